import { describe, expect, it } from 'vitest';
import { createFakeSume } from '../../../../../sim/fake-sume/index.ts';
import { faultPreset, PRESET_NAMES } from '../../../../../sim/fake-sume/faults/presets.ts';
import { mayRefuse, parseFaultProfile } from '../../../../../sim/fake-sume/faults/profile.ts';

describe('a fault profile', () => {
  it.each(PRESET_NAMES)('named %s is one that a file could hold', (name) => {
    const profile = faultPreset(name);
    expect(parseFaultProfile(JSON.parse(JSON.stringify(profile)))).toEqual(profile);
  });

  it.each([
    [[], 'faults is []: give an object.'],
    [{ answer: {} }, /^faults\.answer is not known: give answers, deliveries, events, jobs/],
    [{ answers: { statuses: {} } }, /^faults\.answers\.statuses is not known: give \*, submit/],
    [
      { answers: { '*': { rateLimited: 5 } } },
      'faults.answers.*.rateLimited is 5: give a number from 0 to 1.',
    ],
    [{ jobs: { runMs: [1] } }, 'faults.jobs.runMs is [1]: give an array of exactly 2.'],
    [{ jobs: { runMs: [5, 1] } }, 'faults.jobs.runMs is [5, 1]: give the least first.'],
    [
      { answers: { list: { delayMs: [5, 1] } } },
      'faults.answers.list.delayMs is [5, 1]: give the least first.',
    ],
  ])('like %j is refused with what would do', (value, message) => {
    expect(() => parseFaultProfile(value)).toThrow(message);
    expect(() => createFakeSume({ secrets: ['s'], faults: value as object })).toThrow(
      expect.objectContaining({ code: 'bad_option' }) as Error,
    );
  });

  it.each([
    [{}, false],
    [{ answers: { '*': { delayMs: [0, 500] as const }, status: { serverError: 1 } } }, false],
    [{ answers: { '*': { html: 0.1 } } }, true],
    [{ answers: { '*': { html: 0.1 }, submit: { html: 0 } } }, false],
  ])('like %j: whether a submit can meet more than a delay is %s', (profile, expected) => {
    expect(mayRefuse(profile, 'submit')).toBe(expected);
  });

  it('with an unknown name is refused with the names', () => {
    expect(() => faultPreset('wild')).toThrow(/"wild": give none, mild, chaos/);
    expect(() => faultPreset('constructor')).toThrow(/give none/);
  });
});
