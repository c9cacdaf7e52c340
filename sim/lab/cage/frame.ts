/**
 * The script of the frame around the cage. The frame has no origin, and its policy forbids it everything but to
 * start this one worker, which inherits the policy. It gets the code and a port from the page, and passes the
 * port on.
 */
declare const RUNTIME: string;

addEventListener('message', ({ data, ports }: MessageEvent<{ code: string }>) => {
  const [port] = ports;
  if (port === undefined) return;
  const firstLine = RUNTIME.split('\n').length + 1;
  const script = `${RUNTIME}\n${data.code}\n;cage(integration, ${firstLine});`;
  const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const worker = new Worker(address);
  worker.onerror = (event) => {
    event.preventDefault();
    parent.postMessage({ broke: event.message, line: event.lineno - firstLine + 1 }, '*');
  };
  worker.postMessage(null, [port]);
});
parent.postMessage({ isOpen: true }, '*');
