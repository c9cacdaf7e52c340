import { ANSWER_OPERATIONS } from './answer-operations.ts';
import { DELIVERY_OPERATIONS } from './delivery-operations.ts';
import { FAKE_OPERATIONS } from './fake-operations.ts';
import { HOLD_OPERATIONS } from './hold-operations.ts';
import { JOB_OPERATIONS } from './job-operations.ts';
import type { Operation } from './operation.ts';

/** Every operation of the control API. */
export const OPERATIONS: readonly Operation[] = [
  ...JOB_OPERATIONS,
  ...DELIVERY_OPERATIONS,
  ...ANSWER_OPERATIONS,
  ...HOLD_OPERATIONS,
  ...FAKE_OPERATIONS,
];
