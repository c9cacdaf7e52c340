import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFakeSume, type FakeSume } from '../../../../../sim/fake-sume/index.ts';
import { ask } from '../ask.ts';

async function fakeWith(count: number): Promise<{ fake: FakeSume; newestFirst: string[] }> {
  const fake = createFakeSume({ secrets: ['whsec'], jobId: (key) => `job ${key}&` });
  const ids: string[] = [];
  for (let number = 1; number <= count; number += 1) {
    ids.push(await fake.control.create({ idempotencyKey: String(number) }));
  }
  return { fake, newestFirst: ids.toReversed() };
}

async function page(
  fake: FakeSume,
  query: string,
): Promise<{ ids: unknown[]; next: string | null }> {
  const { data } = (await ask(fake, 'GET', `/jobs${query}`)).json;
  return {
    ids: (data?.jobs ?? []).map((job) => job['id']),
    next: (data?.['next_cursor'] ?? null) as string | null,
  };
}

describe('listing jobs', () => {
  it('shows every job once, newest first, whatever the page size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(25), fc.integer({ min: 1, max: 10 }), async (count, limit) => {
        const { fake, newestFirst } = await fakeWith(count);
        const seen: unknown[] = [];
        let query = `?limit=${limit}`;
        for (let pages = 0; pages <= count; pages += 1) {
          const { ids, next } = await page(fake, query);
          seen.push(...ids);
          if (next === null) break;
          expect(ids).toHaveLength(limit);
          query = `?limit=${limit}&cursor=${encodeURIComponent(next)}`;
        }
        expect(seen).toEqual(newestFirst);
      }),
      { numRuns: 30 },
    );
  });

  it('neither repeats nor hides a job when new ones come in between two pages', async () => {
    const { fake, newestFirst } = await fakeWith(4);
    const first = await page(fake, '?limit=2');
    await fake.control.create({ idempotencyKey: 'late' });
    const second = await page(fake, `?limit=2&cursor=${encodeURIComponent(first.next ?? '')}`);
    expect([...first.ids, ...second.ids]).toEqual(newestFirst);
    expect(second.next).toBeNull();
  });

  it('can show one status only', async () => {
    const { fake, newestFirst } = await fakeWith(3);
    await fake.control.start(String(newestFirst[1]));
    expect((await page(fake, '?status=processing')).ids).toEqual([newestFirst[1]]);
    expect((await page(fake, '?status=queued')).ids).toEqual([newestFirst[0], newestFirst[2]]);
    expect(await page(fake, '?status=expired')).toEqual({ ids: [], next: null });
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=',
    'limit=1.5',
    'status=gone',
    'cursor=nobody',
  ])('refuses %s', async (query) => {
    const { fake } = await fakeWith(1);
    const asked = await ask(fake, 'GET', `/jobs?${query}`);
    expect([asked.status, asked.json.error?.code]).toEqual([400, 'invalid_request']);
  });
});
