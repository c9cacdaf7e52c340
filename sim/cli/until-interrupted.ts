/** Resolves at the first Ctrl-C or SIGTERM. A second one ends the process at once, as without this. */
export function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      process.off('SIGINT', end);
      process.off('SIGTERM', end);
      resolve();
    };
    process.on('SIGINT', end);
    process.on('SIGTERM', end);
  });
}
