/**
 * How one types the command that replays a token: through npm in the repository, where the command line runs
 * from its TypeScript, and through npx where it is installed.
 */
export function replayCommand(moduleUrl: string): (token: string) => string {
  const program = moduleUrl.endsWith('.ts') ? 'npm run sim --' : 'npx sume-sim';
  return (token) => `${program} replay ${token}`;
}
