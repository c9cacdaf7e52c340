/** What `--json` prints where nothing could be judged. */
export function errorJson(code: string, message: string): string {
  return JSON.stringify({ verdict: 'error', error: { code, message }, violations: [] });
}
