/** The PGlite that schedules were to run on has been closed: by a test that shares it and ended first, say. */
export class DatabaseClosedError extends Error {
  override readonly name = 'DatabaseClosedError';
  readonly code = 'database_closed';

  constructor() {
    super(
      'The PGlite given as `database` is closed. Close it only after the last check that uses it has ended: await ' +
        'every check, and close it in an afterAll.',
    );
  }
}
