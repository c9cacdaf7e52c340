import { isIP } from 'node:net';
import { isLoopback } from '../assumptions.ts';

/**
 * Why a request may not use the control API; null if it may. A web page that a developer visits can send
 * requests to loopback, and by rebinding a name of its own even read the answers: so the `Host` has to be an
 * address, `localhost` or the name that the server was told to listen on, and an `Origin` has to be the
 * server's own.
 *
 * @param boundHost what the server listens on.
 */
export function controlRefusal(
  headers: { host: string | null; origin: string | null; fetchSite: string | null },
  boundHost: string,
): string | null {
  const { host, origin, fetchSite } = headers;
  const hostname = host === null ? null : hostnameOf(`http://${host}`);
  if (hostname === null || !(isOwnName(hostname) || hostname === boundHost.toLowerCase())) {
    return `The Host ${JSON.stringify(host)} is not this server's: use its address.`;
  }
  if (origin !== null && origin !== `http://${host}`) {
    return `The Origin ${JSON.stringify(origin)} may not use the control API: no web page may.`;
  }
  if (fetchSite !== null && fetchSite !== 'same-origin' && fetchSite !== 'none') {
    return `A ${fetchSite} request of a browser may not use the control API.`;
  }
  return null;
}

/**
 * Whether a delivery may go to an address: to this machine always, to others only where they were named.
 *
 * @param allowedHosts host names, with a port or without.
 */
export function mayDeliverTo(address: string, allowedHosts: readonly string[]): boolean {
  const { hostname, host } = new URL(address);
  return isLoopback(hostname) || allowedHosts.includes(hostname) || allowedHosts.includes(host);
}

function hostnameOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).hostname : null;
}

function isOwnName(hostname: string): boolean {
  return isLoopback(hostname) || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}
