import { badRequest, success, type Answer } from '../answer.ts';
import { PAGE_SIZE } from '../assumptions.ts';
import { isJobStatus } from '../job.ts';
import type { Call } from './call.ts';
import { wholeJob } from './read-job.ts';

/**
 * `GET /jobs?limit=&status=&cursor=`: the jobs, newest first. `next_cursor` is null on the last page. A
 * cursor names the last job of its page, so jobs that come in between neither repeat nor hide another.
 */
export function listJobs(call: Call): Answer {
  const limit = limitOf(call);
  const status = call.query.get('status');
  if (status !== null && !isJobStatus(status)) {
    throw badRequest(`status is ${JSON.stringify(status)}: give one of Sume's own words.`);
  }
  const newestFirst = call.ledger.all().toReversed();
  const cursor = call.query.get('cursor');
  const start = cursor === null ? 0 : newestFirst.findIndex((job) => job.id === cursor) + 1;
  if (cursor !== null && start === 0) {
    throw badRequest(
      `cursor is ${JSON.stringify(cursor)}: give the next_cursor of an earlier page.`,
    );
  }
  const matching = newestFirst
    .slice(start)
    .filter((job) => status === null || job.status === status);
  const page = matching.slice(0, limit);
  return success({
    jobs: page.map(wholeJob),
    next_cursor: matching.length > limit ? (page.at(-1)?.id ?? null) : null,
  });
}

/** The `limit` of a call. Throws the 400 for anything but a whole number in range. */
export function limitOf(call: Call): number {
  const given = call.query.get('limit');
  if (given === null) return PAGE_SIZE.standard;
  const limit = /^\d{1,6}$/.test(given) ? Number(given) : 0;
  if (limit < 1 || limit > PAGE_SIZE.most) {
    throw badRequest(
      `limit is ${JSON.stringify(given)}: give a whole number from 1 to ${PAGE_SIZE.most}.`,
    );
  }
  return limit;
}
