import type { JSX } from 'preact';
import { catalogue } from 'virtual:shipped';
import { virtualTime, whyItMatters } from '../../index.ts';
import { run, step } from './state.ts';

/** The chosen step in full: what it did, what it broke, and why that matters. */
export function StepCard(): JSX.Element {
  const now = run.value.steps[step.value - 1];
  if (now === undefined) {
    return (
      <div class="card">
        <h2>Before the first step</h2>
        <p>The tables are empty, and Sume has no job.</p>
      </div>
    );
  }
  const violations = run.value.violations.filter((violation) => violation.step === now.index);
  const fault = catalogue.faults.find(({ name }) => name === now.fault);
  return (
    <div class="card">
      <h2>
        Step {now.index}{' '}
        <small>
          {now.actor} · {virtualTime(now.timeMs)}
        </small>
      </h2>
      <p>{now.text}</p>
      <p class="label">{now.label}</p>
      {fault !== undefined && (
        <p class="fault">
          ↯ {fault.name}: {fault.text}
        </p>
      )}
      {violations.map(({ invariant, message }) => (
        <div key={invariant} class="violation">
          <h3>✗ {invariant}</h3>
          <p>{message}</p>
          <p class="matters">{whyItMatters[invariant]}</p>
        </div>
      ))}
    </div>
  );
}
