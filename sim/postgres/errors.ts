/** There is no PostgreSQL to run on: `code` tells whether none answers, or one that won't do. */
export class PostgresServerError extends Error {
  override readonly name = 'PostgresServerError';
  readonly code: 'no_server' | 'no_rights' | 'server_too_old';

  constructor(code: PostgresServerError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
