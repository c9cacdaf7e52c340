import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheFolder } from '../../../../sim/cli/cache-folder.ts';

test.each([
  ['linux', { HOME: '/home/a' }, join('/home/a', '.cache', 'sume-sim')],
  ['linux', { HOME: '/home/a', XDG_CACHE_HOME: '/cache' }, join('/cache', 'sume-sim')],
  ['darwin', { HOME: '/Users/a' }, join('/Users/a', 'Library', 'Caches', 'sume-sim')],
  ['win32', { LOCALAPPDATA: '/a/Local' }, join('/a/Local', 'sume-sim', 'cache')],
] as const)('on %s, %o: the place that the platform means for it', (platform, env, folder) => {
  expect(cacheFolder(env, platform)).toBe(folder);
});

test('a relative XDG_CACHE_HOME is ignored, as its specification asks', () => {
  expect(cacheFolder({ HOME: '/home/a', XDG_CACHE_HOME: 'cache' }, 'linux')).toBe(
    join('/home/a', '.cache', 'sume-sim'),
  );
});

test('without a home there is no cache', () => {
  expect(cacheFolder({}, 'win32')).toBeNull();
  expect(cacheFolder({ HOME: '' }, 'linux')).toBeNull();
});
