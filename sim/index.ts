/**
 * The simulator's public face, fit for Node and for a browser.
 *
 * Words. *job*: one row per Sume job id. *integration*: a system under test. *actor*: submit worker, web
 * process, poller, sweeper, Sume, adversary. *task*: one activity of an actor. *step*: what a task does between
 * two stops. *schedule*: the order of steps. *trace*: the record of one schedule. *token*: a string that replays
 * it. *fault budget*: how many faults a schedule may hold, all kinds together.
 */
export type { Change, Step, StepKind } from './engine/trace.ts';
export { createRandom, freshSeed, MAX_SEED, type Random } from './engine/random.ts';
export type { Deviation, Rule } from './engine/chooser.ts';
export { decodeToken, encodeToken, TokenError, type Recipe } from './engine/token.ts';
export { integrations } from './integrations/index.ts';
export { changeText } from './report/change-text.ts';
export { columns, type ColumnsOptions } from './report/columns.ts';
export { flights, type Flight } from './report/flight.ts';
export { mermaid } from './report/mermaid.ts';
export { plainPalette, type Palette, type Style } from './report/palette.ts';
export { headline, verdict, type VerdictOptions } from './report/verdict.ts';
export { virtualTime } from './report/virtual-time.ts';
export { vitestTest } from './report/vitest-test.ts';
export { whyItMatters } from './report/why-it-matters.ts';
export type { Counterexample, Race } from './world/counterexample.ts';
export type { Exploration, ExploreOptions } from './world/explore.ts';
export { faults, type FaultName } from './world/faults.ts';
export type {
  Handlers,
  Integration,
  Order,
  Patience,
  Ports,
  SumeAccount,
  WatchedTables,
} from './world/integration.ts';
export { DatabaseClosedError } from './world/database-closed-error.ts';
export { invariants } from './world/invariants.ts';
export type { InvariantName, Run, Violation } from './world/run.ts';
export { scenarios, type OrderPlan, type Scenario } from './world/scenarios.ts';
export {
  createSimulator,
  ReplayError,
  type Simulator,
  type SimulatorOptions,
} from './world/simulator.ts';
