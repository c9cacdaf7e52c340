import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createDataDirectoryCache,
  type DataDirectoryCache,
} from '../../../../sim/cli/data-directory-cache.ts';
import { openPrepared, type Maker } from '../../../../sim/cli/prepared-database.ts';

/** A database is told from how it was made. */
const maker: Maker<string> = {
  create: () => Promise.resolve('created'),
  dump: (database) => Promise.resolve(new TextEncoder().encode(`dump of ${database}`)),
  load: (dump) => Promise.resolve(`loaded ${new TextDecoder().decode(dump)}`),
};

let folder: string;
let cache: DataDirectoryCache;
let explained: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sume-sim-prepared-'));
  cache = createDataDirectoryCache(folder, '1');
  explained = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function open(from: DataDirectoryCache = cache): Promise<string> {
  return openPrepared(from, maker, (line) => {
    explained.push(line);
    return Promise.resolve();
  });
}

test('the first is made from nothing, and the next from its dump, without a word', async () => {
  expect(await open()).toBe('created');
  expect(await open()).toBe('loaded dump of created');
  expect(explained).toEqual([]);
});

test('a damaged dump is replaced', async () => {
  await open();
  await writeFile(cache.file, 'damaged');
  expect(await open()).toBe('created');
  expect(await open()).toBe('loaded dump of created');
});

test('many at once all get one, and leave one whole dump', async () => {
  expect(await Promise.all([open(), open(), open()])).toEqual(['created', 'created', 'created']);
  expect(await open()).toBe('loaded dump of created');
  expect(await readdir(folder)).toHaveLength(1);
});

describe('where nothing can be kept', () => {
  test('there is a database all the same, and one line that says why and what would do', async () => {
    await writeFile(join(folder, 'file'), '');
    const blocked = createDataDirectoryCache(join(folder, 'file'), '1');
    expect(await open(blocked)).toBe('created');
    expect(explained).toHaveLength(1);
    expect(explained[0]).toContain(blocked.file);
    expect(explained[0]).toMatch(/EEXIST|ENOTDIR/);
    expect(explained[0]).toContain('XDG_CACHE_HOME');
  });
});

test('a dump that fails is no matter of the file system, and is not hidden', async () => {
  const failing = { ...maker, dump: () => Promise.reject(new Error('out of memory')) };
  await expect(openPrepared(cache, failing, () => Promise.resolve())).rejects.toThrow(
    'out of memory',
  );
});
