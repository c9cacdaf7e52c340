import { describe, expect, it } from 'vitest';
import { createFakeSume } from '../../../../../sim/fake-sume/index.ts';
import { ask } from '../ask.ts';

describe('the routes about the account', () => {
  it('say that Sume is well, without a key', async () => {
    const fake = createFakeSume({ secrets: ['whsec'] });
    const asked = await ask(fake, 'GET', '/health', { headers: { authorization: '' } });
    expect([asked.status, asked.json]).toEqual([200, { data: { status: 'ok' } }]);
  });

  it('tell whose key it is, without repeating the key', async () => {
    const fake = createFakeSume({ secrets: ['whsec'], credits: 3 });
    const me = async (key: string): Promise<unknown> =>
      (await ask(fake, 'GET', '/me', { headers: { authorization: `Bearer ${key}` } })).json.data;
    const mine = await me('sume_live_0123456789');
    expect(mine).toMatchObject({ id: expect.stringMatching(/^acct_/) as unknown, credits: 3 });
    expect(JSON.stringify(mine)).not.toContain('0123456789');
    expect(await me('sume_live_0123456789')).toEqual(mine);
    expect(await me('sume_live_other')).not.toEqual(mine);
  });
});
