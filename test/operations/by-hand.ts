import { untilInterrupted } from '../../sim/cli/until-interrupted.ts';
import { openStage } from './stage.ts';

// The stage of the test, to try things on.

const interrupted = untilInterrupted();
const stage = await openStage({ seed: 7, timeScale: 10, ports: [3001, 3002, 3003] });
const [one, two, three] = stage.services.map(({ url }) => url);
console.log(`Three processes of one service, on one PostgreSQL server, and a Sume that misbehaves.

  Place an order   curl ${one}/orders -H 'content-type: application/json' -d '{"orderId":"order-1","script":"Hello."}'
  See its end      curl ${two}/orders/order-1
  Metrics          curl ${three}/metrics
  What Sume did    curl ${stage.sume.controlUrl}/deliveries
  The tables       psql ${stage.databaseUrl}

Ctrl-C ends it.`);
await interrupted;
await stage.stop();
