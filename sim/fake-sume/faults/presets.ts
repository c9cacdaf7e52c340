import { BadOptionError } from '../errors.ts';
import type { FaultProfile } from './profile.ts';

/** Profiles with a name. */
export type PresetName = 'none' | 'mild' | 'chaos';

/** Nothing goes wrong. */
const none: FaultProfile = {};

/** What a good week brings: an integration that only works without it works by luck. */
const mild: FaultProfile = {
  answers: {
    '*': { delayMs: [0, 100], rateLimited: 0.02, serverError: 0.02, answerLost: 0.01 },
    health: {},
  },
  deliveries: { delayMs: [0, 500], reorder: 0.1, requestLost: 0.05, acknowledgementLost: 0.05 },
  events: { duplicate: 0.1 },
  jobs: { startMs: [100, 500], runMs: [500, 3_000], early: 0.05, fail: 0.05, cancel: 0.01 },
};

/** Everything at once: what an integration has to survive, not what Sume is like. */
const chaos: FaultProfile = {
  answers: {
    '*': {
      delayMs: [0, 500],
      rateLimited: 0.05,
      serverError: 0.05,
      html: 0.03,
      empty: 0.03,
      requestLost: 0.05,
      answerLost: 0.05,
      noAnswer: 0.01,
    },
    submit: { rateLimited: 0.05, requestLost: 0.1, answerLost: 0.15 },
  },
  deliveries: { delayMs: [0, 2_000], reorder: 0.2, requestLost: 0.2, acknowledgementLost: 0.2 },
  events: { duplicate: 0.3, contradict: 0.1, unknown: 0.1, forge: 0.2, tamper: 0.1, stale: 0.1 },
  jobs: {
    startMs: [0, 500],
    runMs: [0, 5_000],
    early: 0.2,
    fail: 0.1,
    cancel: 0.05,
    expire: 0.05,
  },
};

const PRESETS: Readonly<Record<PresetName, FaultProfile>> = { none, mild, chaos };

/** The names, for messages and for completion. */
export const PRESET_NAMES: readonly PresetName[] = ['none', 'mild', 'chaos'];

/** Whether a word names a preset; if not it may name a file. */
export function isPresetName(word: string): word is PresetName {
  return Object.hasOwn(PRESETS, word);
}

/** The profile of a name. Throws `BadOptionError` for any other. */
export function faultPreset(name: string): FaultProfile {
  if (!isPresetName(name)) {
    throw new BadOptionError(
      `There is no fault profile ${JSON.stringify(name)}: give ${PRESET_NAMES.join(', ')}.`,
    );
  }
  return PRESETS[name];
}
