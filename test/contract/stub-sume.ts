import { readStatusWord } from '../../src/status.ts';
import type { JobAnswer, ResultAnswer, StatusAnswer, SumeClient } from '../../src/sume-client.ts';

/** What the stub tells of one job. An Error in place of an answer is thrown. */
export interface StubJob {
  /** The word of the status route. */
  word?: string | Error;
  resultReady?: boolean;
  result?: unknown;
  /** The word of the result route; `completed` unless told. */
  resultWord?: string;
  job?: Record<string, unknown> | Error;
}

/** A Sume that tells what it is given, and remembers what it was asked, in order. */
export interface StubSume extends Pick<SumeClient, 'status' | 'result' | 'job'> {
  readonly jobs: Record<string, StubJob>;
  readonly asked: string[];
}

export function stubSume(jobs: Record<string, StubJob> = {}): StubSume {
  const asked: string[] = [];
  const about = (jobId: string): StubJob => {
    const job = jobs[jobId];
    if (job === undefined) throw new Error(`nobody told the stub about ${jobId}`);
    return job;
  };
  return {
    jobs,
    asked,
    status: async (jobId): Promise<StatusAnswer> => {
      asked.push(`status ${jobId}`);
      const { word = 'processing', resultReady = false } = about(jobId);
      if (word instanceof Error) throw word;
      return { jobId, status: readStatusWord(word), word, resultReady };
    },
    result: async (jobId): Promise<ResultAnswer> => {
      asked.push(`result ${jobId}`);
      const { result = null, resultWord = 'completed' } = about(jobId);
      if (result instanceof Error) throw result;
      return { status: readStatusWord(resultWord), result, body: `raw result of ${jobId}` };
    },
    job: async (jobId): Promise<JobAnswer> => {
      asked.push(`job ${jobId}`);
      const { job = {}, word = 'processing' } = about(jobId);
      if (job instanceof Error) throw job;
      return { jobId, status: word instanceof Error ? null : readStatusWord(word), job };
    },
  };
}
