import type { IntegrationUnderTest } from './integration-under-test.ts';

/** What could not be judged for want of being told, one sentence each. */
export function unchecked(integration: IntegrationUnderTest): string[] {
  const notes: string[] = [];
  if (integration.readParked === undefined) {
    notes.push(
      'Without readParked: parked-drains and parked-never-replaced; and ack-is-durable only from the moment that the ' +
        'job has a row.',
    );
  }
  if (integration.readEffects === undefined) {
    notes.push("Without readEffects: effect-once, what a job's end sets off.");
  }
  if (integration.sweep === 'elsewhere') {
    notes.push('With sweep "elsewhere": converges, whether every row ends as Sume says.');
  }
  notes.push('Through readers: whether there are rows for ids that Sume never issued.');
  return notes;
}
