import type { Process } from '../engine/task.ts';
import type { Handlers } from './integration.ts';

/** The lanes of a diagram, in the order to draw them. The first four are processes, which can crash. */
export const LANES = ['submit', 'web', 'poller', 'sweeper', 'Sume', 'adversary'] as const;

export type ProcessName = 'submit' | 'web' | 'poller' | 'sweeper';

/** One running process of the integration: its memory, and how its clock goes. */
export interface RunningProcess extends Process {
  readonly name: ProcessName;
  /** What it runs since it was started last. */
  handlers: Handlers;
  /** How far its clock is off, in milliseconds. */
  skewMs: number;
}

export function createProcesses(): Record<ProcessName, RunningProcess> {
  const make = (name: ProcessName): RunningProcess => ({
    name,
    life: 1,
    handlers: NOT_STARTED,
    skewMs: 0,
  });
  return {
    submit: make('submit'),
    web: make('web'),
    poller: make('poller'),
    sweeper: make('sweeper'),
  };
}

const notStarted = (): never => {
  throw new Error('The process has not been started.');
};
const NOT_STARTED: Handlers = {
  submit: notStarted,
  handleWebhook: notStarted,
  poll: notStarted,
  sweep: notStarted,
};
