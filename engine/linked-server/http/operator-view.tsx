/** @jsxImportSource hono/jsx */
import { OperatorPage } from '../pages/operator.tsx';
import type { ServerContext, ServerParts } from './context.ts';
import { readPageWish } from './guards.ts';
import type { RefusalText } from './refusals.ts';

/** The time range of the sums over all accounts. */
const TOTALS_DAYS = 30;

export type RenderOperator = ReturnType<typeof createOperatorView>;

/** Returns a function that renders the page of operators. */
export function createOperatorView({ people, chats, usage }: ServerParts) {
  return async function renderOperator(
    context: ServerContext,
    facts: {
      error?: string;
      said?: string;
      link?: { name: string; url: string };
      wish?: { account: string; name: string };
    } = {},
    status: 200 | RefusalText['status'] = 200,
  ) {
    const [accounts, bots, totals] = await Promise.all([
      people.listAccountPage(readPageWish(context)),
      chats.bots.list(),
      usage.listTotals(TOTALS_DAYS),
    ]);
    return context.html(
      <OperatorPage
        signedIn={context.get('signedIn')}
        accounts={accounts}
        bots={bots}
        totals={totals}
        {...facts}
      />,
      status,
    );
  };
}
