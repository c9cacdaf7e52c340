import type { Command } from 'commander';
import { visible } from '../report/visible.ts';
import { UsageError } from './usage-error.ts';
import { wholeNumber } from './whole-number.ts';

/** One part of a search that is shared among several processes: the `index`th of `of`, from 1. */
export interface Shard {
  index: number;
  of: number;
}

/** The search as a whole. */
export const WHOLE: Shard = { index: 1, of: 1 };

export const MOST_SHARDS = 10_000;

/** Reads `3/16`. Refuses everything else. */
export function shardOf(text: string): Shard {
  const [, index, of] = (/^(\d{1,5})\/(\d{1,5})$/.exec(text) ?? []).map(Number);
  if (index === undefined || of === undefined || index < 1 || index > of || of > MOST_SHARDS) {
    throw new UsageError(
      `--shard takes a part and how many there are, such as 3/16 (from 1/1 to ${MOST_SHARDS}/${MOST_SHARDS}), ` +
        `and "${visible(text)}" is not that`,
    );
  }
  return { index, of };
}

/** Whether the shard has the `number`th piece of the search, from 0. Each piece is in exactly one shard. */
export function isIn(shard: Shard, number: number): boolean {
  return number % shard.of === shard.index - 1;
}

/** A shard, shared among `jobs` processes. */
export function split(shard: Shard, jobs: number): Shard[] {
  return Array.from({ length: jobs }, (_, job) => ({
    index: shard.index + job * shard.of,
    of: shard.of * jobs,
  }));
}

/** Options of the commands whose search can be shared. */
export interface ShardOptions {
  shard?: Shard;
  jobs?: number;
}

const MOST_JOBS = 256;

export function addShardOptions(command: Command): Command {
  return command
    .option('--shard <i/n>', 'one part of the search, for machines that share it: 3/16', shardOf)
    .option(
      '--jobs <n>',
      'processes of this machine that share the search (default: 1)',
      wholeNumber('--jobs', 1, MOST_JOBS),
    );
}
