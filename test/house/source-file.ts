import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

/** A file of the house as its syntax tree tells it. Paths are relative to the repository, with slashes. */
export interface SourceFile {
  path: string;
  imports: Import[];
  /** Names of exports that take everything (`*`) or are the default. */
  looseExports: string[];
  /** Calls and reads as they are written: `Date.now`, `new Date()`, `setTimeout`. */
  uses: Use[];
  /** Texts of string and template literals. */
  strings: Use[];
}

export interface Import {
  /** The file in this repository that is imported, or the package's specifier. */
  target: string;
  isPackage: boolean;
  typeOnly: boolean;
  line: number;
}

export interface Use {
  text: string;
  line: number;
}

export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Every TypeScript file below the given folders, parsed. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .sort()
      .map((path) => parse(path, readFileSync(join(root, path), 'utf8'))),
  );
}

/** One file's facts, from its text. */
export function parse(path: string, text: string): SourceFile {
  const { module, program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length;
  const file: SourceFile = { path, imports: [], looseExports: [], uses: [], strings: [] };
  const addImport = (specifier: string, typeOnly: boolean, offset: number): void => {
    const isPackage = !specifier.startsWith('.');
    const target = isPackage ? specifier : posix.join(dirname(path), specifier);
    file.imports.push({ target, isPackage, typeOnly, line: lineOf(offset) });
  };
  for (const { moduleRequest, entries, start } of module.staticImports) {
    const typeOnly = entries.length > 0 && entries.every((entry) => entry.isType);
    addImport(moduleRequest.value, typeOnly, start);
  }
  for (const { entries, start } of module.staticExports) {
    for (const { moduleRequest, importName, exportName, isType } of entries) {
      if (moduleRequest !== null) addImport(moduleRequest.value, isType, start);
      // The kinds are enums that exist only as types: their values are these words.
      const [taken, given]: string[] = [importName.kind, exportName.kind];
      if (taken === 'AllButDefault') file.looseExports.push('*');
      if (given === 'Default') file.looseExports.push('default');
    }
  }
  walk(program, (node) => {
    const line = lineOf(node.start);
    if (node.type === 'ImportExpression') {
      const source = node['source'] as Node;
      if (source.type === 'Literal') addImport(String(source['value']), false, node.start);
    }
    const dotted = dottedName(node);
    if (dotted !== null) file.uses.push({ text: dotted, line });
    if (node.type === 'NewExpression' && (node['arguments'] as Node[]).length === 0) {
      file.uses.push({ text: `new ${dottedName(node['callee'] as Node) ?? ''}()`, line });
    }
    if (node.type === 'CallExpression') {
      file.uses.push({ text: `${dottedName(node['callee'] as Node) ?? ''}()`, line });
    }
    if (node.type === 'Literal' && typeof node['value'] === 'string') {
      file.strings.push({ text: node['value'], line });
    }
    if (node.type === 'TemplateElement') {
      file.strings.push({ text: (node['value'] as { raw: string }).raw, line });
    }
  });
  return file;
}

interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit);
    return;
  }
  if (!isNode(node)) return;
  visit(node);
  for (const [field, child] of Object.entries(node)) {
    // Names that are no reads: a property's key, a member after its dot, a type's name.
    if (field === 'typeAnnotation' || field === 'typeArguments' || field === 'typeParameters')
      continue;
    if (node.type.startsWith('TS') && !CARRIERS.has(node.type)) continue;
    if (node['computed'] === false && (field === 'key' || field === 'property')) continue;
    walk(child, visit);
  }
}

/** TypeScript's own nodes that hold code, not just types. */
const CARRIERS = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

/** `a.b.c` for a chain of plain names, null for anything else. `globalThis.` is left out. */
function dottedName(node: Node): string | null {
  if (node.type === 'Identifier') return String(node['name']);
  if (node.type === 'ChainExpression') return dottedName(node['expression'] as Node);
  if (node.type !== 'MemberExpression' || node['computed'] === true) return null;
  const object = dottedName(node['object'] as Node);
  const property = String((node['property'] as Node)['name']);
  if (object === null) return null;
  return object === 'globalThis' ? property : `${object}.${property}`;
}
