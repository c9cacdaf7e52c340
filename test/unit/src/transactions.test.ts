import { describe, expect, test } from 'vitest';
import { event } from '../../contract/subject.ts';
import { reconcilerOn, recordingDatabase, updatesFailing } from '../../setup/recording-database.ts';

describe('losing a race', () => {
  test.each(['40001', '40P01'])('%s is tried again, an autocommit statement too', async (code) => {
    const { database, log } = recordingDatabase(updatesFailing(code, 2));
    expect(await reconcilerOn(database).receive(event('job_1'))).toBe('applied');
    expect(log).toEqual(Array.from({ length: 3 }, () => 'update sume_jobs set'));
  });

  test('a transaction is run again as a whole', async () => {
    const { database, log } = recordingDatabase(updatesFailing('40001', 1), true);
    await reconcilerOn(database, { onTerminal: () => undefined }).receive(event('job_1'));
    expect(log).toEqual([
      'begin read committed',
      'update sume_jobs set',
      'rollback',
      'begin read committed',
      'update sume_jobs set',
      'commit',
    ]);
  });

  test('not for ever: the error of the last try comes through', async () => {
    const { database, log } = recordingDatabase(updatesFailing('40001', 99));
    await expect(
      reconcilerOn(database, { maxAttempts: 4 }).receive(event('job_1')),
    ).rejects.toMatchObject({ code: '40001' });
    expect(log).toHaveLength(4);
  });

  test('any other error comes through at once', async () => {
    const { database, log } = recordingDatabase(updatesFailing('55P03', 1));
    await expect(reconcilerOn(database).receive(event('job_1'))).rejects.toMatchObject({
      code: '55P03',
    });
    expect(log).toHaveLength(1);
  });

  test("in the caller's transaction it comes through too: only the caller can run that again", async () => {
    const { database, log } = recordingDatabase(() => []);
    let statements = 0;
    await expect(
      reconcilerOn(database).register(
        'job_1',
        {},
        {
          query: () => {
            statements += 1;
            return Promise.reject(Object.assign(new Error('lost'), { code: '40001' }));
          },
        },
      ),
    ).rejects.toMatchObject({ code: '40001' });
    expect(statements).toBe(1);
    expect(log).toEqual([]);
  });
});
