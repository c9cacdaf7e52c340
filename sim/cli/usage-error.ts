/** Wrong input from whoever typed the command: answered with one line and exit code 2, never a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'usage';
}
