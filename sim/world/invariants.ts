import type { InvariantName } from './run.ts';

/** What must hold in every schedule, and what each sentence means to the person whose row it is. */
export const invariants: readonly { name: InvariantName; text: string }[] = [
  {
    name: 'rank-never-drops',
    text: 'A row never goes back: queued, processing, then one end. No row vanishes.',
  },
  {
    name: 'terminal-never-changes',
    text: 'The first end that was written stays; a missing result may be filled in once.',
  },
  {
    name: 'parked-never-replaced',
    text: 'A second event for a parked job never replaces the first.',
  },
  {
    name: 'ack-is-durable',
    text: 'After a 2xx for a terminal event, the job has ended or the event is parked.',
  },
  {
    name: 'parked-drains',
    text: 'No committed moment holds both a job row and a parked event for it.',
  },
  {
    name: 'converges',
    text: 'In the end all comes to rest, and every registered row has the status and the result that Sume has.',
  },
  {
    name: 'effect-once',
    text: "What a job's end sets off happens once, and exactly once in the end.",
  },
  { name: 'unsigned-is-inert', text: 'A forged, changed or outdated webhook changes no row.' },
  { name: 'result-only-when-ready', text: 'No result is read before Sume said that there is one.' },
  { name: 'genuine-is-accepted', text: 'Every genuine webhook that gets an answer gets 2xx.' },
  {
    name: 'no-lost-job',
    text: 'Each submit owns at most one job at Sume, and in the end it is registered or parked.',
  },
  {
    name: 'no-invention',
    text: 'No status is written that Sume never reported, and no row for an id that it never issued.',
  },
];
