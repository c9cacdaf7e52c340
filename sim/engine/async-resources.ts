/** What Node calls the resources through which code waits for the outside world, and what a person calls them. */
const OUTSIDE: Readonly<Record<string, string>> = {
  Timeout: 'a timer',
  Immediate: 'a timer',
  FSREQCALLBACK: 'the file system',
  FSREQPROMISE: 'the file system',
  FILEHANDLE: 'the file system',
  FILEHANDLECLOSEREQ: 'the file system',
  FSEVENTWRAP: 'the file system',
  STATWATCHER: 'the file system',
  GETADDRINFOREQWRAP: 'a name look-up',
  GETNAMEINFOREQWRAP: 'a name look-up',
  QUERYWRAP: 'a name look-up',
  TCPWRAP: 'a network connection',
  TCPCONNECTWRAP: 'a network connection',
  TCPSERVERWRAP: 'a network connection',
  TLSWRAP: 'a network connection',
  UDPWRAP: 'a network connection',
  UDPSENDWRAP: 'a network connection',
  PIPEWRAP: 'a pipe',
  PIPECONNECTWRAP: 'a pipe',
  HTTPCLIENTREQUEST: 'an HTTP request',
  PROCESSWRAP: 'a child process',
  WORKER: 'a worker thread',
  ZLIB: 'zlib',
};

/**
 * Reports every wait for the outside world that a task's code begins, however it was imported: Node tells of
 * each resource as it is made. Where there is no such hook (a browser) this does nothing. Returns what ends it.
 */
export function watchAsyncResources(handlers: {
  inTask: () => boolean;
  onUncontrolled: (what: string) => void;
}): () => void {
  const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks');
  if (hooks === undefined) return () => {};
  const hook = hooks.createHook({
    init: (_asyncId, type) => {
      const what = OUTSIDE[type];
      if (what !== undefined && handlers.inTask()) handlers.onUncontrolled(what);
    },
  });
  hook.enable();
  return () => {
    hook.disable();
  };
}
