import { http } from 'msw';
import { setupServer } from 'msw/node';
import type { Interceptor } from '../../sim/world/schedule.ts';

/** Explores code that calls the global `fetch`, through MSW's `setupServer`. Node only. */
export const throughSetupServer: Interceptor = {
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
