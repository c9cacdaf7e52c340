/** Whether Ctrl-C was pressed while something long ran. */
export interface Interruption {
  readonly happened: boolean;
  /** Gives Ctrl-C its usual meaning back. */
  release(): void;
}

/**
 * Takes the first Ctrl-C (or SIGTERM) as a wish to stop after the current schedule. A second one ends the
 * process at once, as without this.
 */
export function onInterruption(): Interruption {
  let happened = false;
  const release = (): void => {
    process.off('SIGINT', note);
    process.off('SIGTERM', note);
  };
  const note = (): void => {
    happened = true;
    release();
  };
  process.on('SIGINT', note);
  process.on('SIGTERM', note);
  return {
    get happened() {
      return happened;
    },
    release,
  };
}
