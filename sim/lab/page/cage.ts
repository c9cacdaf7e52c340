/** A cage with pasted code in it. */
export interface Cage {
  /** The simulator's end. */
  port: MessagePort;
  /** Rejects if the code cannot be read, with the line. */
  broke: Promise<never>;
  /** Ends whatever runs in it. */
  remove(): void;
}

/**
 * Puts code into a cage: a frame without an origin, whose policy lets it start one worker and nothing else. There
 * the code finds no network, no storage and no page; the port is its only way out.
 */
export async function openCage(code: string): Promise<Cage> {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.title = 'The cage in which your code runs';
  frame.hidden = true;
  frame.src = new URL('cage.html', document.baseURI).href;
  let refuse: (error: Error) => void = () => {};
  const broke = new Promise<never>((_resolve, reject) => (refuse = reject));
  // Also where nobody waits for it any more.
  broke.catch(() => {});
  let hear: (event: MessageEvent<{ isOpen?: true; broke?: string; line?: number }>) => void;
  const opened = new Promise<void>((resolve) => {
    hear = ({ source, data }) => {
      if (source !== frame.contentWindow) return;
      if (data.isOpen === true) resolve();
      if (data.broke !== undefined)
        refuse(new Error(`${data.broke} (line ${data.line} of your code)`));
    };
    addEventListener('message', hear);
  });
  document.body.append(frame);
  await opened;
  const { port1, port2 } = new MessageChannel();
  frame.contentWindow?.postMessage({ code }, '*', [port2]);
  return {
    port: port1,
    broke,
    remove: () => {
      removeEventListener('message', hear);
      frame.remove();
    },
  };
}
