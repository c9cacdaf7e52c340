import type * as mswNode from 'msw/node';
import type { Interceptor } from '../world/schedule.ts';

/** Explores code that calls the global `fetch`, through MSW's `setupServer`. Node only. */
export async function throughSetupServer(): Promise<Interceptor> {
  const [{ http }, { setupServer }] = await Promise.all([import('msw'), mswForNode()]);
  return {
    open: (handle) => {
      const server = setupServer(
        http.all('*', async ({ request }) => {
          try {
            return await handle(request);
          } catch (error) {
            // A connection that fails; anything else is a fault in the code that was called, and shows as one.
            if (error instanceof TypeError) return Response.error();
            throw error;
          }
        }),
      );
      server.listen();
      return () => {
        server.close();
      };
    },
  };
}

/** Not an import that a bundler for browsers sees: it would have to resolve what only Node has. */
function mswForNode(): Promise<typeof mswNode> {
  const name = 'msw/node';
  return import(/* @vite-ignore */ name) as Promise<typeof mswNode>;
}
