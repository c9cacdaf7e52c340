import { builtinModules } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parse } from '../house/source-file.ts';

/** What modules load, themselves included. */
export interface ModuleGraph {
  /** Below the package's folder, with slashes. */
  files: string[];
  /** Names of packages, and of Node's own modules as `node:…`. */
  packages: string[];
}

/** All that the given files of a package may load, now or later, found by reading them. */
export function moduleGraph(folder: string, entries: readonly string[]): ModuleGraph {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue;
    files.add(path);
    for (const { target, isPackage } of parse(path, readFileSync(join(folder, path), 'utf8'))
      .imports) {
      if (isPackage) packages.add(nameOf(target));
      else waiting.push(target);
    }
  }
  return { files: [...files].sort(), packages: [...packages].sort() };
}

/** The modules below some of a package's folders, with slashes. */
export function modulesBelow(folder: string, ...parts: string[]): string[] {
  return parts.flatMap((part) =>
    readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js'))
      .map((name) => `${part}/${name.split(sep).join('/')}`),
  );
}

/** `@a/b` for `@a/b/c`. */
function nameOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  if (builtinModules.includes(specifier)) return `node:${specifier}`;
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}
