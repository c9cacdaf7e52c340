/** Everything that the adversary can do to a schedule. One fault is one use of one of these. */
export const faults: readonly { name: FaultName; text: string }[] = [
  {
    name: 'drop-request',
    text: 'A request to Sume never arrives; the caller sees a network error.',
  },
  { name: 'drop-answer', text: 'Sume did what was asked, and its answer is lost on the way back.' },
  { name: 'rate-limited', text: 'Sume answers 429 with Retry-After, and does nothing.' },
  { name: 'not-found', text: 'Sume answers 404 for a job that exists.' },
  { name: 'server-error', text: 'Sume answers 500 with its error body.' },
  { name: 'html-answer', text: 'A proxy answers 502 with a page of HTML.' },
  { name: 'empty-answer', text: 'The answer is 200 without a body.' },
  { name: 'drop-delivery', text: 'A webhook never arrives; Sume tries again after 30 s.' },
  {
    name: 'drop-acknowledgement',
    text: 'The webhook was handled, and the answer to Sume is lost.',
  },
  { name: 'duplicate-delivery', text: 'The same webhook arrives twice at once.' },
  { name: 'forged', text: 'A stranger posts a webhook signed with a wrong secret.' },
  { name: 'tampered', text: 'A genuine webhook arrives with its body changed on the way.' },
  {
    name: 'out-of-tolerance',
    text: 'A genuine webhook is replayed after its timestamp has expired.',
  },
  {
    name: 'contradiction',
    text: 'Sume sends a second terminal event, with another end, for an ended job.',
  },
  {
    name: 'error-before-commit',
    text: 'The database connection breaks before the write took effect.',
  },
  {
    name: 'error-after-commit',
    text: 'The connection breaks after the commit: the caller cannot know.',
  },
  { name: 'replica-lag', text: 'A read from the replica sees the rows as they were before.' },
  { name: 'crash', text: 'A process ends where it stands, and starts again with an empty memory.' },
  { name: 'clock-skew', text: "A process's clock jumps." },
  { name: 'delay', text: 'Something in flight is so slow that a time-out goes off.' },
];

export type FaultName =
  | 'drop-request'
  | 'drop-answer'
  | 'rate-limited'
  | 'not-found'
  | 'server-error'
  | 'html-answer'
  | 'empty-answer'
  | 'drop-delivery'
  | 'drop-acknowledgement'
  | 'duplicate-delivery'
  | 'forged'
  | 'tampered'
  | 'out-of-tolerance'
  | 'contradiction'
  | 'error-before-commit'
  | 'error-after-commit'
  | 'replica-lag'
  | 'crash'
  | 'clock-skew'
  | 'delay';
