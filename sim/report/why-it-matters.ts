import type { InvariantName } from '../world/run.ts';

/** What each violation costs whoever runs the integration, in one sentence. */
export const whyItMatters: Record<InvariantName, string> = {
  'rank-never-drops':
    'A job that had ended looks as if it were still running, so it is waited for, polled and perhaps submitted again.',
  'terminal-never-changes':
    'Whatever was done when the job first ended (a mail, a charge, a publication) was done for an outcome that the row now denies.',
  'parked-never-replaced':
    'The first word on how the job ended is lost, and the row will end with another.',
  'ack-is-durable':
    'Sume takes a 2xx as the end of its duty and never sends the event again, so the end of the job is lost.',
  'parked-drains':
    'The end of the job lies in the parking table while the row waits for it; nothing will bring them together.',
  converges: 'The row stays wrong for good: nothing is left that would correct it.',
  'effect-once':
    'What must be done once when a job ends (a mail, a charge, a publication) is done twice, or never.',
  'unsigned-is-inert': 'Anyone who finds the URL can end jobs and write results into the database.',
  'result-only-when-ready':
    'The result of a job that is not ready is an error at best, and half a result at worst.',
  'genuine-is-accepted':
    'Sume spends its ten attempts on an event that was fine, gives up, and the event is lost.',
  'no-lost-job':
    'A job runs, and is billed, that no row knows; or a submit made a second job where one was wanted.',
  'no-invention': 'The database states something that never happened at Sume.',
};
