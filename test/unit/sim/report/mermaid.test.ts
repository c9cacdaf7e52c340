import fc from 'fast-check';
import parser from 'mermaid';
import { beforeAll, expect, test } from 'vitest';
import { fold } from '../../../../sim/report/fold.ts';
import { mermaid } from '../../../../sim/report/mermaid.ts';
import { anyRun } from './fixtures/any-run.ts';
import { earlyWebhook } from './fixtures/early-webhook.ts';
import { stalePoll } from './fixtures/stale-poll.ts';

interface Message {
  message: string;
  type: number;
}

// Registers the kinds of diagram, as a page that embeds Mermaid does.
beforeAll(() => parser.initialize({}));

/** What Mermaid itself reads: the texts of messages and notes, its own entities undone. */
async function texts(diagram: string): Promise<string[]> {
  const parsed = await parser.mermaidAPI.getDiagramFromText(diagram);
  expect(parsed.type).toBe('sequence');
  const { getMessages } = parsed.db as unknown as { getMessages: () => Message[] };
  const ARROWS_AND_NOTES = new Set([0, 1, 2, 3, 4]);
  return getMessages
    .call(parsed.db)
    .filter(({ type }) => ARROWS_AND_NOTES.has(type))
    .map(({ message }) =>
      message.replaceAll(/ﬂ°°(\d+)¶ß/g, (_entity, code) => String.fromCodePoint(Number(code))),
    );
}

test('Mermaid reads every step, in order, whatever words a run holds', async () => {
  await fc.assert(
    fc.asyncProperty(anyRun, async (run) => {
      const read = await texts(mermaid(run));
      const numbers = read.flatMap((text) => /^(?:✖ )?(\d+)\.(?: |$)/.exec(text)?.[1] ?? []);
      const shown = fold(run).flatMap((item) => ('index' in item ? [String(item.index)] : []));
      expect(numbers).toEqual(shown);
    }),
    { numRuns: 50 },
  );
});

test('texts, changes and the violation arrive as they were', async () => {
  const read = await texts(mermaid(stalePoll));
  expect(read[0]).toBe('stale-poll, naive-update, seed 14: fail');
  expect(read).toContain('5. GET /jobs/job_a/status');
  expect(read).toContain('10. 200 processing (left at 5)');
  expect(read.at(-1)).toMatch(/^job_a: completed → processing<br\/>✗ rank-never-drops: job_a went/);
});

test('words that mean something to Mermaid are nothing but words', async () => {
  const run = structuredClone(earlyWebhook);
  const hostile = 'wrap: end; %%{init: {}}%% #35; <script> $$x$$ & "q"';
  for (const step of run.steps) step.text = hostile;
  const read = await texts(mermaid(run));
  expect(read.filter((text) => text.includes(hostile))).toHaveLength(run.steps.length);
});

test('a diagram stays within what GitHub draws', () => {
  const steps = Array.from({ length: 2000 }, (_, at) => ({
    ...(stalePoll.steps[at % stalePoll.steps.length] ?? stalePoll.steps[0]),
    index: at + 1,
    text: 'x'.repeat(200),
  })) as typeof stalePoll.steps;
  const diagram = mermaid({ ...stalePoll, steps });
  expect(diagram.length).toBeLessThan(50_000);
  expect(diagram).toContain('rank-never-drops');
});
