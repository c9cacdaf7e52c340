import { deflateSync, inflateSync, strFromU8, strToU8 } from 'fflate';
import type { Deviation, Rule } from './chooser.ts';

/** Everything that decides a run: with the same code it gives the same trace, byte for byte. */
export interface Recipe {
  scenario: string;
  integration: string;
  database: 'pglite' | 'postgres';
  /** The seed that chose the schedule, for information: the deviations decide. Null if none did. */
  seed: number | null;
  /** How many faults the schedule may hold. */
  faults: number;
  deviations: Deviation[];
  /** What the deviations deviate from. */
  rule: Rule;
  /**
   * What takes no part, by name: an order (`submit/b`), an activity (`poll/job_a/1`, `sweep/1`), or a thing
   * that the world does (`sume/job_a starts`). Nothing at first; shrinking leaves out what a failure does
   * without.
   */
  without: string[];
}

/** A token that can't be read. `code` tells a mangled one from one of another version. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly code: 'token_mangled' | 'token_format';

  constructor(code: 'token_mangled' | 'token_format', message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const FORMAT = 'sume1-';
/** Longer than any schedule within the engine's bounds; stops a hostile token from unpacking without end. */
const MAX_UNPACKED_BYTES = 4 * 1024 * 1024;

/** A recipe as a string fit for a shell, a URL and an issue. */
export function encodeToken(recipe: Recipe): string {
  const packed = [
    recipe.scenario,
    recipe.integration,
    recipe.database,
    recipe.seed,
    recipe.faults,
    recipe.deviations.flatMap(({ after, take }) => [after, take]),
    // Tokens from before rule 2 end here, and could leave nothing out.
    ...(recipe.rule === 1 && recipe.without.length === 0 ? [] : [recipe.without]),
    ...(recipe.rule === 1 ? [] : [recipe.rule]),
  ];
  const bytes = deflateSync(strToU8(JSON.stringify(packed)), { level: 9 });
  const sealed = new Uint8Array(bytes.length + 4);
  sealed.set(bytes);
  new DataView(sealed.buffer).setUint32(bytes.length, checksum(bytes));
  return FORMAT + toBase64Url(sealed);
}

/**
 * The recipe in a token.
 *
 * @throws {TokenError} `token_format`: of another version, or no token at all; `token_mangled`: damaged.
 */
export function decodeToken(token: string): Recipe {
  const text = token.trim();
  const shown = text.length > 24 ? `${text.slice(0, 24)}…` : text;
  if (!text.startsWith(FORMAT)) {
    const other = /^sume(\d+)-/.exec(text);
    throw new TokenError(
      'token_format',
      other === null
        ? `"${shown}" is no token: a token begins with "${FORMAT}". Copy the whole token from the failing run.`
        : `"${shown}" is a token of format ${other[1]}, and this version reads format 1. Replay it with the version that printed it, or run the seed again.`,
    );
  }
  const mangled = (cause?: unknown): TokenError =>
    new TokenError(
      'token_mangled',
      `The token "${shown}" is damaged: a character is missing or changed. Copy the whole token from the failing run.`,
      { cause },
    );
  const sealed = fromBase64Url(text.slice(FORMAT.length));
  if (sealed === null || sealed.length < 5) throw mangled();
  const bytes = sealed.slice(0, -4);
  const sum = new DataView(sealed.buffer).getUint32(sealed.length - 4);
  if (sum !== checksum(bytes)) throw mangled();
  let unpacked: unknown;
  try {
    // A buffer of fixed size: what does not fit is cut, and then it is no JSON.
    unpacked = JSON.parse(
      strFromU8(inflateSync(bytes, { out: new Uint8Array(MAX_UNPACKED_BYTES) })),
    );
  } catch (error) {
    throw mangled(error);
  }
  const recipe = toRecipe(unpacked);
  if (recipe === null) throw mangled();
  return recipe;
}

function toRecipe(unpacked: unknown): Recipe | null {
  if (!Array.isArray(unpacked)) return null;
  const [scenario, integration, database, seed, faults, labels, without = [], rule = 1] =
    unpacked as unknown[];
  if (typeof scenario !== 'string' || typeof integration !== 'string') return null;
  if (database !== 'pglite' && database !== 'postgres') return null;
  if (seed !== null && typeof seed !== 'number') return null;
  if (typeof faults !== 'number' || !Number.isInteger(faults) || faults < 0) return null;
  if (!isStrings(labels) || labels.length % 2 !== 0 || !isStrings(without)) return null;
  if (rule !== 1 && rule !== 2) return null;
  const deviations: Deviation[] = [];
  for (let index = 0; index < labels.length; index += 2) {
    deviations.push({ after: labels[index] ?? '', take: labels[index + 1] ?? '' });
  }
  return { scenario, integration, database, seed, faults, deviations, rule, without };
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** FNV-1a: finds a slip of the hand, which is all that it has to. */
function checksum(bytes: Uint8Array): number {
  let sum = 0x811c9dc5;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x01000193);
  return sum >>> 0;
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function fromBase64Url(text: string): Uint8Array | null {
  if (!/^[\w-]+$/.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  // Spare bits of the last character must be zero: otherwise two texts would be the same token.
  return toBase64Url(bytes) === text ? bytes : null;
}
