/** An integration's own `setup` failed, so that there are no tables to run anything on. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
  readonly code = 'setup_failed';

  constructor(integration: string, cause: unknown) {
    super(
      `setup of the integration "${integration}" failed: ${reasonOf(cause)}. It is called once, in an empty schema ` +
        'of a PGlite, and has to make there all tables that the code needs: mend it, or the SQL that it runs.',
      { cause },
    );
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Of PostgreSQL's errors only these have a severity; their name says nothing.
  const { code, severity, hint } = cause as { code?: string; severity?: string; hint?: string };
  if (severity === undefined) return `${cause.name}: ${cause.message}`;
  return `${cause.message} (SQLSTATE ${code}${hint === undefined ? '' : `; ${hint}`})`;
}
