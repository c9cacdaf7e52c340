/** What a link to the lab holds: the schedule, and the step to look at. */
export interface Linked {
  token: string;
  step: number | null;
}

/** Reads `#s=TOKEN&at=12`; null where there is no token. */
export function readLink(fragment: string): Linked | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const token = fields.get('s');
  if (token === null || token === '') return null;
  const at = Number(fields.get('at'));
  return { token, step: Number.isInteger(at) && at > 0 ? at : null };
}

/** The fragment of a link to a step of a schedule. */
export function writeLink({ token, step }: Linked): string {
  return `#s=${token}${step === null ? '' : `&at=${step}`}`;
}
