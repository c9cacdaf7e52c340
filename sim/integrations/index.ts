import type { Integration } from '../world/integration.ts';
import { naiveUpdate } from './broken/naive-update.ts';
import { lastTerminalWins } from './broken/last-terminal-wins.ts';
import { dropUnknown } from './broken/drop-unknown.ts';
import { unknownIs404 } from './broken/unknown-is-404.ts';
import { parkNeverDrain } from './broken/park-never-drain.ts';
import { drainOutsideTransaction } from './broken/drain-outside-transaction.ts';
import { parkOverwrites } from './broken/park-overwrites.ts';
import { lookThenParkAutocommit } from './broken/look-then-park-autocommit.ts';
import { lookThenPark } from './broken/look-then-park.ts';
import { lockAtRepeatableRead } from './broken/lock-at-repeatable-read.ts';
import { lookWithoutRank } from './broken/look-without-rank.ts';
import { ackBeforeStore } from './broken/ack-before-store.ts';
import { dedupeBeforeWork } from './broken/dedupe-before-work.ts';
import { effectUnguarded } from './broken/effect-unguarded.ts';
import { signatureSkipped } from './broken/signature-skipped.ts';
import { signatureReserialised } from './broken/signature-reserialised.ts';
import { unknownEvent500 } from './broken/unknown-event-500.ts';
import { canceledIsFailed } from './broken/canceled-is-failed.ts';
import { sweeperUnguarded } from './broken/sweeper-unguarded.ts';
import { sweeperInventsFailure } from './broken/sweeper-invents-failure.ts';
import { noSweeper } from './broken/no-sweeper.ts';
import { resultTooEarly } from './broken/result-too-early.ts';
import { ownJobId } from './broken/own-job-id.ts';
import { retryWithoutKey } from './broken/retry-without-key.ts';
import { readsReplica } from './broken/reads-replica.ts';
import { guarded } from './guarded.ts';
import { guardedInTransaction } from './guarded-in-transaction.ts';
import { guardedSerializable } from './guarded-serializable.ts';

/** Every shipped system under test: the guarded core first, in its three forms, then one published mistake after another. */
export const integrations: readonly Integration[] = [
  guarded,
  guardedSerializable,
  guardedInTransaction,
  naiveUpdate,
  lastTerminalWins,
  dropUnknown,
  unknownIs404,
  parkNeverDrain,
  drainOutsideTransaction,
  parkOverwrites,
  lookThenParkAutocommit,
  lookThenPark,
  lockAtRepeatableRead,
  lookWithoutRank,
  ackBeforeStore,
  dedupeBeforeWork,
  effectUnguarded,
  signatureSkipped,
  signatureReserialised,
  unknownEvent500,
  canceledIsFailed,
  sweeperUnguarded,
  sweeperInventsFailure,
  noSweeper,
  resultTooEarly,
  ownJobId,
  retryWithoutKey,
  readsReplica,
];
