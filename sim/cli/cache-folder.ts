import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * Where this user's cached files go: XDG_CACHE_HOME where it is set (relative values are to be ignored, says
 * the XDG specification), otherwise what is usual on the platform. Null where there is no home at all.
 */
export function cacheFolder(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): string | null {
  const xdg = env['XDG_CACHE_HOME'] ?? '';
  if (isAbsolute(xdg)) return join(xdg, 'sume-sim');
  if (platform === 'win32') {
    const local = env['LOCALAPPDATA'] ?? '';
    return local === '' ? null : join(local, 'sume-sim', 'cache');
  }
  const home = env['HOME'] ?? homedir();
  if (!isAbsolute(home)) return null;
  return platform === 'darwin'
    ? join(home, 'Library', 'Caches', 'sume-sim')
    : join(home, '.cache', 'sume-sim');
}
