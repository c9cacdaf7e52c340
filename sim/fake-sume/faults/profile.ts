import { BadOptionError } from '../errors.ts';
import { shapeProblem, type JsonShape } from '../json-shape.ts';
import { ROUTE_NAMES, type RouteName } from '../route-table.ts';

/**
 * How a fake Sume misbehaves by itself, and how long its jobs take. Probabilities are from 0 to 1, and 0
 * where nothing is given; ranges are `[least, most]` in milliseconds of the fake's clock.
 */
export interface FaultProfile {
  /** What requests meet: for every route under `*`, and overridden field by field for one. */
  answers?: Partial<Record<RouteName | '*', AnswerFaults>>;
  deliveries?: DeliveryFaults;
  events?: EventFaults;
  jobs?: JobFaults;
}

/** Drawn for every request; at most one of them happens, beside the delay. */
export interface AnswerFaults {
  /** How much later the answer comes. */
  delayMs?: Range;
  /** 429, before any effect. */
  rateLimited?: number;
  /** 500, before any effect. */
  serverError?: number;
  /** A proxy's page, before any effect. */
  html?: number;
  /** 200 without a body, before any effect. */
  empty?: number;
  /** The connection is reset before any effect. */
  requestLost?: number;
  /** The connection is reset after the effect. */
  answerLost?: number;
  /** No answer and no reset, before any effect, until the client gives up. */
  noAnswer?: number;
}

/** Drawn for every attempt of Sume's own deliveries. */
export interface DeliveryFaults {
  /** How much later the attempt leaves. */
  delayMs?: Range;
  /** The first attempt is kept back long enough for events of other jobs to overtake it. */
  reorder?: number;
  /** The request is lost before it arrives. */
  requestLost?: number;
  /** The answer is lost on its way back. */
  acknowledgementLost?: number;
}

/** Drawn for every job that ends and has a webhook address: what is sent beside its event. */
export interface EventFaults {
  duplicate?: number;
  contradict?: number;
  unknown?: number;
  forge?: number;
  tamper?: number;
  stale?: number;
}

/** Drawn for every submitted job, where jobs run by themselves. */
export interface JobFaults {
  /** From the submit to `processing`. Default: 250 ms. */
  startMs?: Range;
  /** From `processing` to the end. Default: 1 s. */
  runMs?: Range;
  /** The job ends at once, and its webhook arrives before the 202 does. */
  early?: number;
  /** It ends as failed, canceled or expired instead of completed. */
  fail?: number;
  cancel?: number;
  expire?: number;
}

/** `[least, most]`, in milliseconds. */
export type Range = readonly [number, number];

/** Whether a request of this route may get something else than its answer, or none. */
export function mayRefuse({ answers = {} }: FaultProfile, route: RouteName): boolean {
  const { delayMs: _later, ...refusals } = { ...answers['*'], ...answers[route] };
  return Object.values(refusals).some((probability) => probability > 0);
}

const PROBABILITY: JsonShape = { type: 'number', minimum: 0, maximum: 1 };
const RANGE: JsonShape = {
  type: 'array',
  items: { type: 'number', minimum: 0, maximum: 86_400_000 },
  minItems: 2,
  maxItems: 2,
};

const fields = (ranges: readonly string[], probabilities: readonly string[]): JsonShape => ({
  type: 'object',
  properties: Object.fromEntries([
    ...ranges.map((name) => [name, RANGE]),
    ...probabilities.map((name) => [name, PROBABILITY]),
  ]) as Record<string, JsonShape>,
  additionalProperties: false,
});

const ANSWERS = fields(
  ['delayMs'],
  ['rateLimited', 'serverError', 'html', 'empty', 'requestLost', 'answerLost', 'noAnswer'],
);

const PROFILE: JsonShape = {
  type: 'object',
  properties: {
    answers: {
      type: 'object',
      properties: Object.fromEntries(['*', ...ROUTE_NAMES].map((name) => [name, ANSWERS])),
      additionalProperties: false,
    },
    deliveries: fields(['delayMs'], ['reorder', 'requestLost', 'acknowledgementLost']),
    events: fields([], ['duplicate', 'contradict', 'unknown', 'forge', 'tamper', 'stale']),
    jobs: fields(['startMs', 'runMs'], ['early', 'fail', 'cancel', 'expire']),
  },
  additionalProperties: false,
};

/**
 * Checks a profile that came from outside, as a file's JSON.
 *
 * @throws BadOptionError with the field, what it holds, and what would do.
 */
export function parseFaultProfile(value: unknown): FaultProfile {
  const problem = shapeProblem(value, PROFILE, 'faults');
  if (problem !== null) throw new BadOptionError(problem);
  const profile = value as FaultProfile;
  for (const [at, range] of rangesOf(profile)) {
    if (range[0] > range[1]) {
      throw new BadOptionError(`${at} is [${range.join(', ')}]: give the least first.`);
    }
  }
  return profile;
}

function rangesOf(profile: FaultProfile): [string, Range][] {
  const answers = Object.entries(profile.answers ?? {}).map(
    ([route, faults]): [string, Range | undefined] => [
      `faults.answers.${route}.delayMs`,
      faults.delayMs,
    ],
  );
  const all: [string, Range | undefined][] = [
    ...answers,
    ['faults.deliveries.delayMs', profile.deliveries?.delayMs],
    ['faults.jobs.startMs', profile.jobs?.startMs],
    ['faults.jobs.runMs', profile.jobs?.runMs],
  ];
  return all.flatMap(([at, range]) => (range === undefined ? [] : [[at, range]]));
}
