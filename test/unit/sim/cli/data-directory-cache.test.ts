import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDataDirectoryCache } from '../../../../sim/cli/data-directory-cache.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sume-sim-cache-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const anyDump = fc.uint8Array({ minLength: 1, maxLength: 500 });

test('what was kept is read again, byte for byte', async () => {
  const cache = createDataDirectoryCache(join(folder, 'not', 'yet', 'there'), '0.5.17');
  await fc.assert(
    fc.asyncProperty(anyDump, async (dump) => {
      await cache.write(dump);
      expect(await cache.read()).toEqual(dump);
    }),
    { numRuns: 20 },
  );
});

test('a file with any byte changed, or cut anywhere, counts as none', async () => {
  const cache = createDataDirectoryCache(folder, 'damaged');
  await fc.assert(
    fc.asyncProperty(anyDump, fc.nat(), fc.boolean(), async (dump, at, cut) => {
      await cache.write(dump);
      const bytes = await readFile(cache.file);
      const place = at % bytes.length;
      if (cut) await writeFile(cache.file, bytes.subarray(0, place));
      else await writeFile(cache.file, bytes.fill((bytes[place] ?? 0) ^ 1, place, place + 1));
      expect(await cache.read()).toBeNull();
    }),
    { numRuns: 50 },
  );
});

test('a cache that nobody filled yet is empty', async () => {
  expect(await createDataDirectoryCache(join(folder, 'new'), '1').read()).toBeNull();
});

test('another version of PGlite never sees it', async () => {
  await createDataDirectoryCache(folder, '1.0.0').write(Uint8Array.of(1));
  expect(await createDataDirectoryCache(folder, '1.0.1').read()).toBeNull();
});

test('many writers at once leave one whole file and no scraps', async () => {
  const shared = join(folder, 'shared');
  const caches = Array.from({ length: 8 }, () => createDataDirectoryCache(shared, '1'));
  const dumps = caches.map((_cache, index) => new Uint8Array(10_000).fill(index));
  await Promise.all(caches.map((cache, index) => cache.write(dumps[index] ?? Uint8Array.of())));
  const kept = await caches[0]?.read();
  expect(dumps).toContainEqual(kept);
  expect(await readdir(shared)).toHaveLength(1);
});

test('a folder that cannot be made is reported by what the file system says', async () => {
  await writeFile(join(folder, 'file'), '');
  const cache = createDataDirectoryCache(join(folder, 'file', 'below'), '1');
  expect(await cache.read()).toBeNull();
  await expect(cache.write(Uint8Array.of(1))).rejects.toMatchObject({ syscall: 'mkdir' });
});

test.runIf(process.platform === 'linux')(
  'a folder is refused at once where the file system denies every folder',
  async () => {
    const cache = createDataDirectoryCache('/proc/sume-sim/cache', '0.0.0');
    await expect(cache.write(new Uint8Array(1))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await cache.read()).toBeNull();
  },
);
