/** @jsxImportSource hono/jsx */
import { BOT_FIELDS } from '../chats/bot-settings.ts';
import type { ListedBot } from '../chats/bots.ts';
import { KIND_NAMES } from '../chats/kind-names.ts';
import type { ChatStatus } from '../chats/service.ts';
import { CHAT_KINDS, type ChatKind } from '../database/tables.ts';
import type { SignedIn } from '../people/people.ts';
import { Field, Notice, Page, TableHead, Time, WhosePassword } from './layout.tsx';

const STATE_WORDS: Readonly<Record<ChatStatus['state'], string>> = {
  starting: 'starting',
  open: 'works',
  failing: 'fails',
  closed: 'not running',
};

const describeStatus = ({ state, problem }: ChatStatus): string =>
  problem === null ? STATE_WORDS[state] : `${STATE_WORDS[state]}: ${problem}`;

/** Lists the bots of this server and their states. */
export function BotTable({ bots }: { bots: readonly ListedBot[] }) {
  return (
    <>
      <h2>Bots</h2>
      <table>
        <TableHead columns={['Service', 'Bot', 'State']} />
        <tbody>
          {CHAT_KINDS.map((kind) => {
            const bot = bots.find((each) => each.kind === kind);
            return (
              <tr>
                <td data-label="Service">
                  <a href={`/operator/bots/${kind}`}>{KIND_NAMES[kind]}</a>
                </td>
                <td data-label="Bot">{bot?.status.botName ?? 'none'}</td>
                <td data-label="State">{bot === undefined ? 'not set up' : describeStatus(bot.status)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}

/** The form for setting up a bot. Saved values are never shown. */
export function BotPage({
  signedIn,
  kind,
  bot,
  origin,
  said,
  error,
}: {
  signedIn: SignedIn;
  kind: ChatKind;
  bot: ListedBot | null;
  origin: string;
  said: string | null;
  error?: string;
}) {
  return (
    <Page title={`${KIND_NAMES[kind]} bot`} path="" signedIn={signedIn}>
      <Notice said={said} error={error ?? null} />
      {bot === null ? null : (
        <dl class="facts">
          <dt>Bot</dt>
          <dd>{bot.status.botName ?? 'not reached yet'}</dd>
          <dt>State</dt>
          <dd>{describeStatus(bot.status)}</dd>
          <dt>Since</dt>
          <dd>
            <Time at={bot.status.since} />
          </dd>
          <dt>Set up by</dt>
          <dd>
            {`${bot.setBy}, `}
            <Time at={bot.setAt} />
          </dd>
        </dl>
      )}
      <form method="post" action={`/operator/bots/${kind}`}>
        <WhosePassword name={KIND_NAMES[kind]} label="Service" />
        {BOT_FIELDS[kind].map(({ name, label, hint, isSecret, isOptional }) => (
          <Field
            name={name}
            label={label}
            hint={hint}
            {...(isSecret ? { type: 'password', autocomplete: 'new-password' } : {})}
            isOptional={isOptional}
          />
        ))}
        {kind === 'telegram' ? (
          <label class="choice">
            <input type="checkbox" name="webhook" />{' '}
            {`Telegram sends updates to ${origin}, instead of being polled for them`}
          </label>
        ) : null}
        <p class="dim">
          If you set a different bot, the people and chats connected to the former one are forgotten.
        </p>
        <button type="submit">Save</button>
      </form>
      {bot === null ? null : (
        <p>
          <a href={`/operator/bots/${kind}/remove`}>Remove the bot</a>
        </p>
      )}
      <p>
        <a href="/operator">Back</a>
      </p>
    </Page>
  );
}
