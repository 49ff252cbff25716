import { mistake } from "./world.ts";
import type { Drawn, Methods } from "./world.ts";

interface Tweet {
  readonly id: number;
  readonly username: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly mentions: string[];
}
interface Tweets {
  readonly username: string;
  readonly password: string;
  authenticated: boolean;
  readonly tweets: Record<string, Tweet>;
  readonly comments: Record<string, { readonly username: string; readonly content: string }[]>;
  readonly retweets: Record<string, number[]>;
  tweet_counter: number;
}

export function tweetMethods(state: Tweets): Methods {
  const signedIn = (work: () => unknown): unknown => (state.authenticated ? work() : mistake("User not authenticated"));
  const withTweet = (id: unknown, work: (tweet: Tweet) => unknown): unknown => {
    const tweet = state.tweets[String(id)];
    return tweet === undefined ? mistake(`Tweet ${String(id)} not found`) : work(tweet);
  };
  return {
    authenticate_twitter({ username, password }) {
      const isRight = username === state.username && password === state.password;
      // Who is signed in stays so.
      if (isRight) state.authenticated = true;
      return { authentication_status: isRight };
    },
    post_tweet: ({ content, tags = [], mentions = [] }) => signedIn(() => {
      const tweet: Tweet = { id: state.tweet_counter, username: state.username, content: String(content), tags: tags as readonly string[], mentions: [...(mentions as readonly string[])] };
      state.tweets[String(tweet.id)] = tweet;
      state.tweet_counter += 1;
      return structuredClone(tweet);
    }),
    comment: ({ tweet_id, comment_content }) => signedIn(() => withTweet(tweet_id, ({ id }) => {
      (state.comments[String(id)] ??= []).push({ username: state.username, content: String(comment_content) });
      return { comment_status: "Comment added successfully" };
    })),
    mention: ({ tweet_id, mentioned_usernames }) => withTweet(tweet_id, ({ mentions }) => {
      mentions.push(...(mentioned_usernames as readonly string[]));
      return { mention_status: "Users mentioned successfully" };
    }),
    retweet: ({ tweet_id }) => signedIn(() => withTweet(tweet_id, ({ id }) => {
      (state.retweets[state.username] ??= []).push(id);
      return { retweet_status: "Successfully retweeted" };
    })),
  };
}

interface Messages {
  readonly generated_ids: number[];
  user_count: number;
  readonly user_map: Record<string, string>;
  readonly inbox: Record<string, unknown>[];
  message_count: number;
  current_user: string | null;
}

export function messageMethods(state: Messages, drawn: Drawn): Methods {
  const isUser = (id: unknown): boolean => Object.values(state.user_map).includes(String(id));
  return {
    message_login({ user_id }) {
      if (!isUser(user_id)) return { login_status: false, message: `User ID '${String(user_id)}' not found.` };
      state.current_user = String(user_id);
      return { login_status: true, message: `User '${String(user_id)}' logged in successfully.` };
    },
    add_contact({ user_name }) {
      const name = String(user_name);
      if (name in state.user_map) return mistake(`User name '${name}' already exists.`);
      state.user_count += 1;
      const id = `USR${String(state.user_count).padStart(3, "0")}`;
      state.user_map[name] = id;
      return { added_status: true, user_id: id, message: `Contact '${name}' added successfully.` };
    },
    send_message({ receiver_id, message }) {
      if (state.current_user === null) return mistake("No user is currently logged in.");
      if (!isUser(receiver_id)) return mistake(`Receiver ID '${String(receiver_id)}' not found.`);
      const id = Number(drawn.next("message"));
      state.generated_ids.push(id);
      state.inbox.push({ [String(receiver_id)]: message });
      state.message_count += 1;
      return { sent_status: true, message_id: { new_id: id }, message: `Message sent to '${String(receiver_id)}' successfully.` };
    },
    delete_message({ receiver_id }) {
      if (state.current_user === null) return mistake("No user is currently logged in.");
      const at = state.inbox.findLastIndex((message) => Object.keys(message)[0] === String(receiver_id));
      if (at < 0) return mistake(`Receiver ID ${String(receiver_id)} not found.`);
      state.inbox.splice(at, 1);
      return { deleted_status: true, receiver_id, message: `Receiver ${String(receiver_id)}'s latest message deleted successfully.` };
    },
    view_messages_sent() {
      if (state.current_user === null) return mistake("No user is currently logged in.");
      const messages: Record<string, unknown[]> = {};
      for (const one of state.inbox) for (const [receiver, message] of Object.entries(one)) (messages[receiver] ??= []).push(message);
      return { messages };
    },
  };
}

interface Ticket extends Record<string, unknown> {
  readonly id: number;
  status: string;
}
interface Tickets {
  readonly ticket_queue: Ticket[];
  ticket_counter: number;
  current_user: string | null;
}

export function ticketMethods(state: Tickets): Methods {
  const withTicket = (id: unknown, work: (ticket: Ticket) => unknown): unknown => {
    const ticket = state.ticket_queue.find((one) => one.id === id);
    return ticket === undefined ? mistake(`Ticket with ID ${String(id)} not found.`) : work(ticket);
  };
  return {
    ticket_login({ username }) {
      state.current_user = String(username);
      return { success: true };
    },
    create_ticket({ title, description = "", priority = 1 }) {
      if (state.current_user === null) return mistake("User must be authenticated to create a ticket.");
      const ticket: Ticket = { id: state.ticket_counter, title, description, status: "Open", priority, created_by: state.current_user };
      state.ticket_queue.push(ticket);
      state.ticket_counter += 1;
      return { ...ticket };
    },
    get_ticket: ({ ticket_id }) => withTicket(ticket_id, (ticket) => ({ ...ticket })),
    edit_ticket: ({ ticket_id, updates }) => withTicket(ticket_id, (ticket) => {
      Object.assign(ticket, updates);
      return { status: `Ticket ${String(ticket_id)} has been updated successfully.` };
    }),
    close_ticket: ({ ticket_id }) => withTicket(ticket_id, (ticket) => {
      ticket.status = "Closed";
      return { status: `Ticket ${String(ticket_id)} has been closed successfully.` };
    }),
    resolve_ticket: ({ ticket_id, resolution }) => withTicket(ticket_id, (ticket) => {
      Object.assign(ticket, { status: "Resolved", resolution });
      return { status: `Ticket ${String(ticket_id)} has been resolved successfully.` };
    }),
  };
}
