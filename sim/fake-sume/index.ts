export { createFakeSume } from './create-fake-sume.ts';
export type { FakeSume, FakeSumeOptions } from './fake-sume.ts';
export type { Control, DeliveryFilter, NewJob } from './control.ts';
export { createFakeClock, type FakeClock, type MovableClock } from './fake-clock.ts';
export { systemClock, type Clock } from '../../src/clock.ts';
export { ATTEMPT_SPACING_MS, MAX_ATTEMPTS, type Send } from './courier.ts';
export type { Spawn } from './tasks.ts';
export { ATTEMPT_LIMIT_MS } from './assumptions.ts';
export type {
  Attempt,
  AttemptFailure,
  Delivery,
  DeliveryAttempt,
  DeliveryKind,
  DeliveryState,
} from './delivery.ts';
export type { ArmedAnswer, ArmedFor } from './armed-answers.ts';
export type { PresetName } from './faults/presets.ts';
export type {
  AnswerFaults,
  DeliveryFaults,
  EventFaults,
  FaultProfile,
  JobFaults,
  Range,
} from './faults/profile.ts';
export type { Held, Hold } from './holds.ts';
export type { JobError, JobStatus, PushedStatus, TerminalStatus } from './job.ts';
export type { Ending } from './ledger.ts';
export { PUBLISHED_LIMITS, type Limits } from './limits.ts';
export type { SendTo } from './mailroom.ts';
export type { RequestRecord } from './request-log.ts';
export type { RouteName } from './route-table.ts';
export type { JobTruth } from './truth.ts';
export type { JsonObject, JsonValue } from './wire-json.ts';
export { BadControlError, BadOptionError, StillWaitingError, UnknownJobError } from './errors.ts';
