import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { browserEntries, placeOf, places } from './house/arrows.ts';
import { parse, readSources, root, type SourceFile } from './house/source-file.ts';

const files = readSources('src', 'sim');
const byPath = new Map(files.map((file) => [file.path, file]));

/** Fails with one line for each finding, which says where it is and what to do instead. */
function expectNone(findings: string[]): void {
  expect(findings.join('\n')).toBe('');
}

describe('imports', () => {
  test('go along the arrows of the design', () => {
    expectNone(files.flatMap(wrongArrows));
  });

  test('name the file, with its ending', () => {
    expectNone(
      files.flatMap(({ path, imports }) =>
        imports
          .filter(({ isPackage, target }) => !isPackage && !/\.(tsx?|css|json)$/.test(target))
          .map(({ target, line }) => `${path}:${line} imports ${target}: write the file's ending.`),
      ),
    );
  });

  test('of the core name no package at all: it has no runtime dependency', () => {
    expectNone(
      files
        .filter(({ path }) => path.startsWith('src/'))
        .flatMap(({ path, imports }) =>
          imports
            .filter(({ isPackage }) => isPackage)
            .map(({ target, line }) => `${path}:${line} imports ${target}: write what it needs.`),
        ),
    );
  });

  test.each(browserEntries.filter((entry) => byPath.has(entry)))(
    'of %s reach nothing that only Node has',
    (entry) => {
      const findings = [...reach([entry])].flatMap(
        (path) =>
          byPath
            .get(path)
            ?.imports.filter(({ target, typeOnly }) => target.startsWith('node:') && !typeOnly)
            .map(
              ({ target, line }) => `${path}:${line} imports ${target}, and runs in browsers.`,
            ) ?? [],
      );
      expectNone(findings);
    },
  );
});

function wrongArrows({ path, imports }: SourceFile): string[] {
  const place = placeOf(path);
  if (place === undefined)
    return [`${path} is in no place of the house: see test/house/arrows.ts.`];
  const { values, types = [] } = places[place] ?? { values: [] };
  return imports.flatMap(({ target, isPackage, typeOnly, line }) => {
    if (isPackage || placeOf(target) === place) return [];
    if (values.some((allowed) => target.startsWith(allowed))) return [];
    if (types.some((allowed) => target.startsWith(allowed))) {
      return typeOnly ? [] : [`${path}:${line} may import only types of ${target}: import type.`];
    }
    const allowed = [...values, ...types].join(', ') || 'nothing but itself';
    return [`${path}:${line} imports ${target}; ${place} may import ${allowed}.`];
  });
}

describe('time and chance', () => {
  /** Who may read what, and why nobody else does. */
  const OWNERS: Record<string, string[]> = {
    'src/clock.ts': ['Date.now', 'setTimeout', 'clearTimeout'],
    'sim/engine/random.ts': ['crypto.getRandomValues'],
    // Waits one turn of the event loop, which is no measure of time: the engine's own way to see quiet.
    'sim/engine/quiet.ts': ['setImmediate', 'MessageChannel'],
    // A watchdog for a person: when to stop waiting and say why, never what happens in the fake.
    'sim/fake-sume/patience.ts': ['AbortSignal.timeout'],
    // A turn of the event loop, as in the engine's own; and the time limit of pasted code.
    'sim/lab/cage/runtime.ts': ['MessageChannel'],
    'sim/lab/simulation/watchdog.ts': ['setTimeout', 'clearTimeout'],
    'sim/lab/page/cage.ts': ['MessageChannel'],
    // What a person watches: the beat of a playing trace, and work put off until the page is painted.
    'sim/lab/page/pace.ts': ['setInterval', 'setTimeout', 'requestAnimationFrame'],
  };

  const AMBIENT = [
    'Date.now',
    'new Date()',
    'Date()',
    'performance.now',
    'performance.timeOrigin',
    'process.hrtime',
    'process.uptime',
    'setTimeout',
    'setInterval',
    'setImmediate',
    'AbortSignal.timeout',
    'MessageChannel',
    'requestAnimationFrame',
    'Math.random',
    'crypto.randomUUID',
    'crypto.getRandomValues',
  ];

  test.each([
    ['a call', 'f(Date.now());', 'Date.now'],
    ['a call through globalThis', 'globalThis.setTimeout(f, 1);', 'setTimeout'],
    ['a function passed on', 'const wait = setTimeout;', 'setTimeout'],
    ['a date of now', 'const now = new Date();', 'new Date()'],
    ['an optional call', 'crypto.randomUUID?.();', 'crypto.randomUUID'],
  ])('%s is seen', (_name, code, use) => {
    expect(parse('x.ts', code).uses.map(({ text }) => text)).toContain(use);
  });

  test.each([
    ['a comment', '// Date.now()'],
    ['a string', 'f("Date.now");'],
    ['a property', 'f(options.setTimeout);'],
    ['a key', 'f({ setTimeout: 1 });'],
    ['a date that is given', 'f(new Date(ms));'],
    ['a type', 'let x: typeof setTimeout;'],
  ])('%s is not mistaken for a use', (_name, code) => {
    const uses = parse('x.ts', code).uses.map(({ text }) => text);
    expect(uses.filter((use) => AMBIENT.includes(use))).toEqual([]);
  });

  test('are read only by the files that own them', () => {
    expectNone(
      files.flatMap(({ path, uses }) =>
        uses
          .filter(({ text }) => AMBIENT.includes(text) && OWNERS[path]?.includes(text) !== true)
          .map(
            ({ text, line }) =>
              `${path}:${line} uses ${text}: take a Clock (src/clock.ts) or a Random ` +
              '(sim/engine/random.ts), so that a run can be had again.',
          ),
      ),
    );
  });

  test('are not asked of the database either', () => {
    const SQL_AMBIENT =
      /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp|random|gen_random_uuid|uuid_generate_v4)\s*\(\s*\)|\bcurrent_(timestamp|date|time)\b/i;
    const SQL = /\b(select|insert|update|delete|create|values|default)\b/i;
    expectNone(
      files.flatMap(({ path, strings }) =>
        strings
          .filter(({ text }) => SQL.test(text) && SQL_AMBIENT.test(text))
          .map(({ line }) => `${path}:${line} asks the database for time or chance: pass a value.`),
      ),
    );
  });
});

describe('files', () => {
  test('are reached from what the package offers', () => {
    const reached = reach(entries());
    expectNone(
      files
        .filter(({ path }) => !reached.has(path))
        .map(
          ({ path }) => `${path} is reached from no export and no command: use it or remove it.`,
        ),
    );
  });

  test('are named after the one idea that they hold', () => {
    expectNone(
      [...files, ...readSources('test')]
        .filter(({ path }) =>
          /(^|\/)(utils?|types?|helpers?|common|misc|shared)(\.tsx?|\/)/.test(path),
        )
        .map(({ path }) => `${path}: name it after what is in it.`),
    );
  });

  test('export names, not everything and not a default', () => {
    expectNone(
      [...files, ...readSources('test')]
        // Vitest takes its configuration from a default export.
        .filter(({ path }) => !path.endsWith('.config.ts'))
        .flatMap(({ path, looseExports }) =>
          looseExports.map((name) => `${path} exports ${name}: name what it gives.`),
        ),
    );
  });
});

/** Where the package is entered: its exports and its command, as sources. */
function entries(): string[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { default: string }>;
    bin: Record<string, string>;
  };
  const built = [
    ...Object.values(manifest.exports).map((target) =>
      typeof target === 'string' ? target : target.default,
    ),
    ...Object.values(manifest.bin),
  ];
  return [
    ...built
      .filter((path) => /^(\.\/)?dist\//.test(path))
      .map((path) => path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, '.ts')),
    ...files.map(({ path }) => path).filter((path) => path.startsWith('sim/lab/')),
  ];
}

/** Everything that these files import, directly or not, types included. */
function reach(from: string[]): Set<string> {
  const reached = new Set<string>();
  const waiting = [...from];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    for (const { target, isPackage } of byPath.get(path)?.imports ?? []) {
      if (!isPackage) waiting.push(target);
    }
  }
  return reached;
}
