import type { SumeClient } from '../../../src/index.ts';
import type { JobNews } from './statements.ts';

/** What a poll by hand sees: the status, and the result of a completed job. */
export async function pollNews(client: SumeClient, jobId: string): Promise<JobNews | null> {
  const { status } = await client.status(jobId);
  if (status === null) return null;
  if (status !== 'completed') return { jobId, status };
  const { result } = await client.result(jobId);
  return { jobId, status, result };
}
