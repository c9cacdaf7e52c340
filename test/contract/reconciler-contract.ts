import { advanceContract } from './advance-contract.ts';
import { hookContract } from './hook-contract.ts';
import { migrateContract } from './migrate-contract.ts';
import { orderContract } from './order-contract.ts';
import { parkedContract } from './parked-contract.ts';
import { pollContract } from './poll-contract.ts';
import { receiveContract } from './receive-contract.ts';
import { registerContract } from './register-contract.ts';
import { useSubject, type OpenDatabase } from './subject.ts';
import { sweepContract } from './sweep-contract.ts';

/** The contract of the core. Every database that it supports runs all of it. */
export function reconcilerContract(open: () => Promise<OpenDatabase>): void {
  const subject = useSubject(open);
  migrateContract(subject);
  receiveContract(subject);
  registerContract(subject);
  advanceContract(subject);
  hookContract(subject);
  pollContract(subject);
  parkedContract(subject);
  sweepContract(subject);
  orderContract(subject);
}
