/** @jsxImportSource hono/jsx */
import type { AccountEntitlements } from '../../core/link-protocol/capabilities.ts';
import { EVENTS } from '../../notify/sending/index.ts';
import type { ListedBot } from '../chats/bots.ts';
import { readChannelEvents } from '../chats/channels.ts';
import type { ConnectionClaim } from '../chats/connection-codes.ts';
import { KIND_NAMES } from '../chats/kind-names.ts';
import type { ChatChannel, ChatCodePurpose, ChatKind, ChatUserRow } from '../database/tables.ts';
import type { SignedIn } from '../people/people.ts';
import { Action, Choices, Notice, Page, TableHead, Time } from './layout.tsx';

/** Shows a code for a bot, once. */
interface ShownCode {
  kind: ChatKind;
  purpose: ChatCodePurpose;
  text: string;
}

function describeCode({ kind, purpose }: ShownCode, botName: string | null): string {
  const bot = `the bot ${botName ?? 'of this server'}`;
  if (purpose === 'person') return `Send this to ${bot} in ${KIND_NAMES[kind]}, in private:`;
  return kind === 'telegram'
    ? `Add ${bot} to the group, and send this there:`
    : `Add ${bot} to the channel, and send this there:`;
}

function writeCode({ kind, purpose, text }: ShownCode, botName: string | null): string {
  if (purpose === 'person') return kind === 'telegram' ? `/start ${text}` : `connect ${text}`;
  return kind === 'telegram' ? `/connect${botName ?? ''} ${text}` : `${botName ?? '@bot'} connect ${text}`;
}

function CodeNotice({ code, bots }: { code: ShownCode | null; bots: readonly ListedBot[] }) {
  if (code === null) return null;
  const botName = bots.find(({ kind }) => kind === code.kind)?.status.botName ?? null;
  return (
    <div class="facts" role="status">
      <p>{describeCode(code, botName)}</p>
      <p>
        <code class="code">{writeCode(code, botName)}</code>
      </p>
      <p>
        It works once, within ten minutes, and is not shown again. Then{' '}
        <a href="/app/chats">reload this page</a>: it asks you to confirm.
      </p>
    </div>
  );
}

/** Asks for confirmation when a code has arrived. */
function ClaimForm({ claim }: { claim: ConnectionClaim }) {
  const { kind, purpose, user, place } = claim;
  const isPerson = purpose === 'person';
  return (
    <section class="facts">
      <h2>{isPerson ? `Is this you in ${KIND_NAMES[kind]}?` : `Send events there?`}</h2>
      <dl>
        <dt>{isPerson ? 'Who sent your code' : 'Sent by'}</dt>
        <dd>{`${user.name}, id ${user.id}`}</dd>
        {isPerson ? null : (
          <>
            <dt>{place.isPrivate ? 'Private chat' : 'Channel or group'}</dt>
            <dd>{`${place.channelName}, id ${place.channel}`}</dd>
          </>
        )}
      </dl>
      <p>
        {isPerson
          ? 'If it is not you, someone else has your code: refuse it. The connected user presses buttons in your name.'
          : 'Everyone who can read there will see titles, projects and names of agents. Only connected people of this account can press buttons.'}
      </p>
      <form method="post" action={`/app/chats/${isPerson ? 'connect' : 'channels'}/${kind}`}>
        <input
          type="hidden"
          name={isPerson ? 'user' : 'channel'}
          value={isPerson ? user.id : place.channel}
        />
        <div class="row">
          <button type="submit" name="answer" value="yes">
            {isPerson ? 'Yes, connect' : 'Yes, send events there'}
          </button>
          <button type="submit" name="answer" value="no" class="bad">
            No, refuse it
          </button>
        </div>
      </form>
    </section>
  );
}

function describeChannelState(
  channel: ChatChannel,
  { isLocked, now }: { isLocked: boolean; now: number },
): string {
  if (isLocked) return 'locked: nothing is sent there';
  if (channel.muted_until > now) return 'muted';
  return channel.problem === null ? 'on' : `failing: ${channel.problem}`;
}

/** Distinguishes a channel from others with its name; empty if only the name is known. */
const describePlace = ({ is_private, channel, name }: ChatChannel): string => {
  if (is_private === 1) return 'private';
  return channel === name ? '' : channel;
};

/** Shows the person's chat users, and channels for events of the account. */
export function ChatsPage({
  signedIn,
  said,
  error,
  bots,
  users,
  claims,
  channels,
  entitlements,
  now,
  code,
}: {
  signedIn: SignedIn;
  said: string | null;
  error?: string;
  bots: readonly ListedBot[];
  users: readonly ChatUserRow[];
  claims: readonly ConnectionClaim[];
  channels: readonly ChatChannel[];
  entitlements: AccountEntitlements;
  now: number;
  code?: ShownCode;
}) {
  const isAdmin = signedIn.person.role === 'admin';
  const isLocked = !entitlements.capabilities.includes('assistant');
  return (
    <Page title="Chats" path="/app/chats" signedIn={signedIn}>
      <Notice said={said} error={error ?? null} />
      {isLocked ? (
        <p class="error">{`Locked: the plan ${entitlements.plan} has no assistant, so nothing is sent. The operator of this server can assign another plan.`}</p>
      ) : null}
      <CodeNotice code={code ?? null} bots={bots} />
      {claims.map((claim) => (
        <ClaimForm claim={claim} />
      ))}
      <h2>You</h2>
      {bots.length === 0 ? (
        <p>No bot is set up. The operator of this server does that on the page Operator.</p>
      ) : (
        <table>
          <TableHead columns={['Service', 'Bot', 'Connected as']} hasActions />
          <tbody>
            {bots.map(({ kind, status }) => {
              const user = users.find((each) => each.kind === kind);
              return (
                <tr>
                  <td data-label="Service">{KIND_NAMES[kind]}</td>
                  <td data-label="Bot">{status.botName ?? 'not reached yet'}</td>
                  <td data-label="Connected as">
                    {user === undefined ? 'nobody' : `${user.name}, id ${user.user_id}`}
                  </td>
                  <td>
                    {user === undefined ? (
                      <Action
                        action={`/app/chats/connect/${kind}/code`}
                        label="Connect"
                        about={KIND_NAMES[kind]}
                      />
                    ) : (
                      <Action
                        action={`/app/chats/disconnect/${kind}`}
                        label="Disconnect"
                        about={KIND_NAMES[kind]}
                        kind="bad"
                      />
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      <h2>Where events go</h2>
      {channels.length === 0 ? (
        <p>No chat receives events of the account.</p>
      ) : (
        <table>
          <TableHead columns={['Channel', 'Service', 'Events', 'State']} />
          <tbody>
            {channels.map((channel) => (
              <tr>
                <td data-label="Channel">
                  <a href={`/app/chats/channel/${channel.id}`}>{channel.name}</a>{' '}
                  <span class="dim">{describePlace(channel)}</span>
                </td>
                <td data-label="Service">{KIND_NAMES[channel.kind]}</td>
                <td data-label="Events">{readChannelEvents(channel).join(', ')}</td>
                <td data-label="State">{describeChannelState(channel, { isLocked, now })}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {isAdmin && !isLocked
        ? bots.map(({ kind }) => <AddChannel kind={kind} users={users} channels={channels} />)
        : null}
    </Page>
  );
}

function AddChannel({
  kind,
  users,
  channels,
}: {
  kind: ChatKind;
  users: readonly ChatUserRow[];
  channels: readonly ChatChannel[];
}) {
  const user = users.find((each) => each.kind === kind);
  if (user === undefined) return <p class="dim">{`Connect ${KIND_NAMES[kind]} to send events there.`}</p>;
  const isThere = channels.some(
    (channel) => channel.kind === kind && channel.channel === user.private_channel,
  );
  return (
    <div class="row">
      {user.private_channel === null || isThere ? null : (
        <Action
          action={`/app/chats/channels/${kind}/private`}
          label={`Send events to my ${KIND_NAMES[kind]}`}
        />
      )}
      <Action
        action={`/app/chats/channels/${kind}/code`}
        label={kind === 'telegram' ? 'Allow a Telegram group' : 'Add a Slack channel'}
      />
    </div>
  );
}

/** Shows one channel and its events. */
export function ChannelPage({
  signedIn,
  channel,
  now,
  said,
  error,
}: {
  signedIn: SignedIn;
  channel: ChatChannel;
  now: number;
  said: string | null;
  error?: string;
}) {
  const isAdmin = signedIn.person.role === 'admin';
  const place = `/app/chats/channel/${channel.id}`;
  return (
    <Page title={channel.name} path="" signedIn={signedIn}>
      <Notice said={said} error={error ?? null} />
      <dl class="facts">
        <dt>Service</dt>
        <dd>{KIND_NAMES[channel.kind]}</dd>
        <dt>{channel.is_private === 1 ? 'Private chat' : 'Channel or group'}</dt>
        <dd>{channel.channel}</dd>
        <dt>Problem</dt>
        <dd>{channel.problem ?? 'none'}</dd>
        {channel.muted_until > now ? (
          <>
            <dt>Muted until</dt>
            <dd>
              <Time at={channel.muted_until} />
            </dd>
          </>
        ) : null}
      </dl>
      {isAdmin ? (
        <>
          {channel.muted_until > now ? <Action action={`${place}/unmute`} label="Unmute" /> : null}
          <form method="post" action={place}>
            <Choices
              name="events"
              label="Events"
              choices={Object.entries(EVENTS)}
              chosen={readChannelEvents(channel)}
            />
            <button type="submit">Save</button>
          </form>
          <p>
            <a href={`${place}/remove`}>{`Remove ${channel.name}`}</a>
          </p>
        </>
      ) : null}
      <p>
        <a href="/app/chats">Chats</a>
      </p>
    </Page>
  );
}
