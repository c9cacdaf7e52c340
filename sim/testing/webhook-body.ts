import fc from 'fast-check';

const EVENTS = ['job.completed', 'job.failed', 'job.canceled', 'job.archived', ''];

/** Strings that databases, parsers and terminals have tripped over. */
const nastyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '\0',
    'a\0b',
    '\ud800',
    '\udfff\ud800',
    '\u202e\u200b\ufeff',
    'e\u0301',
    '👩‍👩‍👧',
    "'; drop table jobs; --",
    '$1',
    '\\u0000',
    '\u001b[2J',
    '__proto__',
  ),
  fc.nat({ max: 20_000 }).map((length) => 'a'.repeat(length)),
);

/** As they stand in the text: most of them no JavaScript number can hold, and some no `numeric` either. */
const nastyNumber: fc.Arbitrary<string> = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('1e400', '-1e400', '1e-400', '1e999999', '-0', '9007199254740993', '1.0', '1E+2'),
  fc.nat({ max: 2_000 }).map((digits) => `1${'0'.repeat(digits)}`),
);

const leaf: fc.Arbitrary<string> = fc.oneof(
  nastyText.map((text) => JSON.stringify(text)),
  nastyNumber,
  fc.constantFrom('true', 'false', 'null'),
);

/** Brackets within brackets: parsers that recurse give up somewhere. */
const deep: fc.Arbitrary<string> = fc
  .nat({ max: 10_000 })
  .map((depth) => `${'['.repeat(depth)}1${']'.repeat(depth)}`);

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[ ${items.join(' , ')} ]`),
    // The same key may come twice.
    fc
      .array(fc.tuple(nastyText, tie('value')), { maxLength: 4 })
      .map((pairs) => `{${pairs.map(([key, one]) => `${JSON.stringify(key)} :${one}`).join(',')}}`),
    deep,
  ),
}));

/**
 * Bodies of webhooks, as text: whole events with payloads that nobody expects (unicode, NUL, lone surrogates, huge
 * numbers, deep nesting, keys that come twice), and texts that are no event at all. Sign one, and give it to a
 * handler: whatever it answers, it has to answer.
 *
 * @param options.jobId what most events are about; `job_a` by default.
 */
export function webhookBody(options: { jobId?: string } = {}): fc.Arbitrary<string> {
  const { jobId = 'job_a' } = options;
  const id = fc.oneof(
    { weight: 3, arbitrary: fc.constant(JSON.stringify(jobId)) },
    { weight: 1, arbitrary: leaf },
  );
  const event = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...EVENTS).map((name) => JSON.stringify(name)) },
    { weight: 1, arbitrary: leaf },
  );
  const whole = fc
    .record({ event, id, status: leaf, payload: value, error: value })
    .map(
      (one) =>
        `{"event": ${one.event}, "request_id":${one.id},"job_id":${one.id}, "status": ${one.status},` +
        `"payload":${one.payload},"error":${one.error}}`,
    );
  const broken = fc.oneof(
    fc.tuple(whole, fc.nat({ max: 200 })).map(([text, length]) => text.slice(0, length)),
    whole.map((text) => `\ufeff${text}`),
    whole.map((text) => `${text}${text}`),
    value,
    fc.constantFrom('', ' ', '{}', '[]', 'null', 'undefined', '{"event":"job.completed"}'),
  );
  return fc.oneof({ weight: 3, arbitrary: whole }, { weight: 1, arbitrary: broken });
}
