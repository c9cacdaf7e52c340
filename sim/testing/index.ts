/**
 * The kit: a team checks its own integration, on its own tables, in its own test suite.
 *
 * `checkIntegration` runs it through the orders of events that break integrations, and throws the explained
 * counterexample of the first that does.
 */
export { checkIntegration, type CheckOptions, type CheckResult } from './check-integration.ts';
export { CheckOptionError, InvariantViolatedError, NotJudgedError } from './check-errors.ts';
export { runSchedule, type ScheduleOptions } from './run-schedule.ts';
export { toSurviveEveryOrder, type SurvivalOptions } from './to-survive-every-order.ts';
export { faults, schedule, type Departure, type PickedFault } from './schedule-arbitraries.ts';
export { webhookBody } from './webhook-body.ts';
export type {
  IntegrationUnderTest,
  JobView,
  ParkedView,
  TestDatabase,
  TestHandlers,
  TestPorts,
} from './integration-under-test.ts';
export { IntegrationShapeError } from './to-integration.ts';
export { TokenError } from '../engine/token.ts';
export type { FaultName } from '../world/faults.ts';
export type { InvariantName, Run, Violation } from '../world/run.ts';
export type { Order, Patience, SumeAccount } from '../world/integration.ts';
export { HandleClosedError } from '../world/outside-handle.ts';
export { DatabaseClosedError } from '../world/database-closed-error.ts';
export {
  PoolCallError,
  type Pool,
  type PoolClient,
  type PoolQuery,
  type PoolResult,
} from '../world/pool.ts';
export { ReaderError } from '../world/row-reader.ts';
export { SetupError } from '../world/setup-error.ts';
