// What a step of the engine does, written plainly in C: a yardstick for its speed. See port.py, which compiles it.
//
// The functions do what those of katz_env/games/katzenjammer/ do, mostly under the same names, so that all they write
// is the same byte by byte. Nothing is tuned: every loop says what the rules say. Known when this is compiled are the numbers
// that the engine's compiler knows too, from the sizes of the fields; the other options travel in the record.

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define N NUM_PLAYERS
#define KINDS (VALUES + 1)
#define JOKER VALUES  // the kind of the jokers is the last
#define CARDS (KINDS * COPIES)

// Where groups of action ids begin; bids begin at 1, and kind 0 of a bid is "different values".
#define PAY_EQUAL (1 + 2 * CARDS)
#define PAY_DIFFERENT (PAY_EQUAL + COPIES + 1)
#define FIRST_FOURSOME (PAY_DIFFERENT + (1 << VALUES))

enum { AUCTION, PAYMENT, FOURSOMES, OVER };
enum { WIN, SCORE };

// The record of rules.py.
typedef struct {
    uint64_t rng;
    int16_t bid, position, best[N];
    int8_t hand[N][KINDS], known[N][KINDS], claims[N][KINDS];
    int8_t hand_sizes[N], displayed[N], mice[N], passed[N];
    int8_t row[KINDS], discard[KINDS];
    int8_t supply, first_seat, bandleader, turn, high_bidder, phase;
    int8_t total_mice, hand_size, set_size, joker_penalty;
    int8_t deal[CARDS];
} Table;
_Static_assert(sizeof(Table) == RECORD_SIZE, "the record is not that of rules.py");

// The fields of observation.py.
typedef struct {
    int8_t hand[KINDS], row[KINDS], discard[KINDS];
    int8_t draw_pile, supply, phase[4], bid_number, bid_kind[KINDS], bid_rank;
    int8_t hand_sizes[N], mice[N], displayed[N], passed[N], bandleader[N], high_bidder[N], turn[N];
    int8_t claims[N][KINDS], known[N][KINDS];
} Observation;
_Static_assert(sizeof(Observation) == OBSERVATION_SIZE, "the observation is not that of observation.py");

static int min(int a, int b) { return a < b ? a : b; }
static int max(int a, int b) { return a > b ? a : b; }
static int next(int seat) { return seat + 1 < N ? seat + 1 : 0; }
static int bid_number(int bid) { return (bid - 1) / KINDS + 1; }
static int bid_kind(int bid) { return (bid - 1) % KINDS; }

// splitmix64
static int random_below(Table *t, int n) {
    uint64_t z = t->rng += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (int)(((z >> 32) * (uint64_t)n) >> 32);
}

static void shuffle(Table *t) {
    for (int i = 0; i < CARDS; i++) t->deal[i] = i / COPIES;
    for (int i = CARDS - 1; i > 0; i--) {
        int j = random_below(t, i + 1);
        int8_t card = t->deal[i];
        t->deal[i] = t->deal[j];
        t->deal[j] = card;
    }
}

// The id of the highest bid that a hand can pay, 0 if none.
static int best_bid(const Table *t, int seat) {
    const int8_t *hand = t->hand[seat];
    int most = 0, distinct = 0;
    for (int v = 0; v < VALUES; v++) {
        most = max(most, KINDS * hand[v] + v);  // number and value in one: the highest value of which the hand has most
        distinct += hand[v] > 0;
    }
    int equal = KINDS * (hand[JOKER] - 1) + most + 2;
    int different = KINDS * (min(VALUES, distinct + hand[JOKER]) - 1) + 1;
    return max(0, max(equal, different));
}

static void note_best_bids(Table *t) {
    for (int seat = 0; seat < N; seat++) t->best[seat] = best_bid(t, seat);
}

// Take cards out of a hand; what everybody knew of it shrinks with them.
static void spend(Table *t, int seat, int kind, int count) {
    t->hand[seat][kind] -= count;
    t->hand_sizes[seat] -= count;
    t->known[seat][kind] = max(0, t->known[seat][kind] - count);
}

static void discard(Table *t, int seat, int kind, int count) {
    spend(t, seat, kind, count);
    t->discard[kind] += count;
}

static void display(Table *t, int seat, int jokers) {
    spend(t, seat, JOKER, jokers);
    t->displayed[seat] += jokers;
}

static void finish(Table *t) {
    for (int seat = 0; seat < N; seat++) display(t, seat, t->hand[seat][JOKER]);
    note_best_bids(t);
    t->phase = OVER;
}

static void reveal(Table *t) {
    t->bid = 0;
    t->high_bidder = -1;
    memset(t->passed, 0, sizeof t->passed);
    memset(t->claims, 0, sizeof t->claims);
    t->phase = AUCTION;
    int kind, first = next(t->bandleader);
    do {
        kind = t->deal[t->position++];
        t->row[kind]++;
        if (t->position == CARDS) { finish(t); return; }
    } while (kind != JOKER && t->row[kind] < 2);
    if (kind == JOKER) {  // everybody draws a card
        for (int i = 0, seat = first; i < N; i++, seat = next(seat)) {
            t->hand[seat][t->deal[t->position++]]++;
            t->hand_sizes[seat]++;
            if (t->position == CARDS) { finish(t); return; }
        }
        note_best_bids(t);
    }
    t->turn = first;
}

// Whether somebody is to bid: passes the seats from `turn` on that cannot. If nobody is left, the high bidder is to pay;
// without one, the row is discarded and the next one revealed.
static bool ask(Table *t) {
    int last = t->turn;
    for (int i = 0, seat = t->turn; i < N; i++, seat = next(seat)) {
        if (t->passed[seat] || seat == t->high_bidder) continue;
        if (t->best[seat] > t->bid) { t->turn = seat; return true; }
        t->passed[seat] = 1;
        last = seat;
    }
    if (t->high_bidder >= 0) {
        t->turn = t->high_bidder;
        t->phase = PAYMENT;
    } else {
        t->turn = last;
        for (int kind = 0; kind < KINDS; kind++) t->discard[kind] += t->row[kind];
        memset(t->row, 0, sizeof t->row);
        reveal(t);
    }
    return false;
}

// The values that a hand holds, as a set of bits.
static int values_in_hand(const int8_t *hand) {
    int set = 0;
    for (int v = 0; v < VALUES; v++) set |= (hand[v] > 0) << v;
    return set;
}

// The action id of the only way in which the high bidder can pay, -1 if there are several.
static int only_payment(const Table *t) {
    const int8_t *hand = t->hand[t->high_bidder];
    int number = bid_number(t->bid), kind = bid_kind(t->bid), jokers = hand[JOKER];
    if (kind > 0) {
        int fewest = max(0, number - hand[kind - 1]), most = min(jokers, number);
        return fewest == most ? PAY_EQUAL + fewest : -1;
    }
    int held = values_in_hand(hand), distinct = __builtin_popcount(held);
    int fewest = max(0, number - jokers), most = min(number, distinct);  // how many value cards
    return fewest == most && most == distinct ? PAY_DIFFERENT + held : -1;
}

static void pay(Table *t, int action) {
    int seat = t->high_bidder, number = bid_number(t->bid), kind = bid_kind(t->bid), jokers = number;
    if (kind > 0) {
        jokers = action - PAY_EQUAL;
        discard(t, seat, kind - 1, number - jokers);
    } else {
        int set = action - PAY_DIFFERENT;
        for (int v = 0; v < VALUES; v++) {
            if (set >> v & 1) { discard(t, seat, v, 1); jokers--; }
        }
    }
    display(t, seat, jokers);
    for (int k = 0; k < KINDS; k++) {
        t->hand[seat][k] += t->row[k];
        t->known[seat][k] += t->row[k];
        t->hand_sizes[seat] += t->row[k];
        t->row[k] = 0;
        t->claims[seat][k] = 0;
    }
    t->best[seat] = best_bid(t, seat);
    t->bandleader = seat;
    t->phase = FOURSOMES;
}

static bool can_present(const Table *t) {
    const int8_t *hand = t->hand[t->bandleader];
    int most = 0;
    for (int v = 0; v < VALUES; v++) most = max(most, hand[v]);
    return most + hand[JOKER] >= t->set_size;
}

static void present(Table *t, int action) {
    int seat = t->bandleader, choice = action - FIRST_FOURSOME, free = VALUES * (t->set_size + 1);
    if (choice > free) {
        reveal(t);
    } else if (choice == free) {
        discard(t, seat, JOKER, t->set_size);
        t->best[seat] = best_bid(t, seat);
    } else {
        int v = choice / (t->set_size + 1), jokers = choice % (t->set_size + 1), won = min(v + 1, t->supply);
        discard(t, seat, v, t->set_size - jokers);
        display(t, seat, jokers);
        t->best[seat] = best_bid(t, seat);
        t->mice[seat] += won;
        t->supply -= won;
        if (t->supply == 0) finish(t);
    }
}

// Play forced moves until a seat has at least two legal moves or the game is over.
static void settle(Table *t) {
    while (t->phase != OVER) {
        if (t->phase == AUCTION) {
            if (ask(t)) return;
        } else if (t->phase == PAYMENT) {
            int only = only_payment(t);
            if (only < 0) return;
            pay(t, only);
        } else {
            if (can_present(t)) return;
            reveal(t);
        }
    }
}

static void play(Table *t, int action) {
    if (t->phase == AUCTION && action == 0) {
        t->passed[t->turn] = 1;
    } else if (t->phase == AUCTION) {
        t->bid = action;
        t->high_bidder = t->turn;
        t->claims[t->turn][bid_kind(action)] = bid_number(action);  // bids rise, so the newest of a kind is its largest
        t->turn = next(t->turn);
    } else if (t->phase == PAYMENT) {
        pay(t, action);
    } else {
        present(t, action);
    }
    settle(t);
}

static void deal(Table *t) {
    memset(t->hand, 0, sizeof t->hand);
    memset(t->known, 0, sizeof t->known);
    memset(t->displayed, 0, sizeof t->displayed);
    memset(t->mice, 0, sizeof t->mice);
    memset(t->row, 0, sizeof t->row);
    memset(t->discard, 0, sizeof t->discard);
    t->supply = t->total_mice;
    t->bandleader = t->turn = t->first_seat;
    t->position = 0;
    for (int seat = 0; seat < N; seat++) {
        for (int i = 0; i < t->hand_size; i++) t->hand[seat][t->deal[t->position++]]++;
        t->hand_sizes[seat] = t->hand_size;
    }
    note_best_bids(t);
    reveal(t);
    settle(t);
}

// A game can end before anybody could decide; then another one is dealt.
static void deal_random(Table *t) {
    do {
        t->first_seat = random_below(t, N);
        shuffle(t);
        deal(t);
    } while (t->phase == OVER);
}

static void write_mask(const Table *t, bool *mask, int64_t num_actions) {
    memset(mask, 0, num_actions);
    const int8_t *hand = t->hand[t->turn];
    int jokers = hand[JOKER], held = values_in_hand(hand);
    if (t->phase == AUCTION) {
        mask[0] = true;
        int different = min(VALUES, __builtin_popcount(held) + jokers);
        for (int number = t->bid > 0 ? bid_number(t->bid) : 1; number <= bid_number(t->best[t->turn]); number++) {
            for (int kind = 0; kind < KINDS; kind++) {
                int bid = 1 + KINDS * (number - 1) + kind;
                // A single card is not a bid of different values.
                bool payable = kind == 0 ? number > 1 && different >= number : hand[kind - 1] + jokers >= number;
                mask[bid] = payable && bid > t->bid;
            }
        }
    } else if (t->phase == PAYMENT) {
        int number = bid_number(t->bid), kind = bid_kind(t->bid);
        if (kind > 0) {
            for (int k = max(0, number - hand[kind - 1]); k <= min(jokers, number); k++) mask[PAY_EQUAL + k] = true;
        } else {
            for (int set = 0; set < 1 << VALUES; set++) {
                int size = __builtin_popcount(set);
                if ((set & ~held) == 0 && number - jokers <= size && size <= number) mask[PAY_DIFFERENT + set] = true;
            }
        }
    } else if (t->phase == FOURSOMES) {
        int size = t->set_size, free = FIRST_FOURSOME + VALUES * (size + 1);
        for (int v = 0; v < VALUES; v++) {
            for (int k = max(0, size - hand[v]); k <= min(jokers, size); k++) mask[FIRST_FOURSOME + v * (size + 1) + k] = true;
        }
        mask[free] = jokers >= size;
        mask[free + 1] = true;
    }
}

static void write_outcome(const Table *t, int reward, float *rewards, int16_t *scores, int32_t *ranks) {
    int most = 0, best = -(1 << 30), winners = 0;
    for (int seat = 0; seat < N; seat++) most = max(most, t->displayed[seat]);
    for (int seat = 0; seat < N; seat++) {
        scores[seat] = t->mice[seat] - (t->displayed[seat] == most ? t->joker_penalty : 0);
        ranks[seat] = 256 * scores[seat] - t->displayed[seat];  // ties are broken by fewer displayed jokers
        best = max(best, ranks[seat]);
    }
    for (int seat = 0; seat < N; seat++) winners += ranks[seat] == best;
    for (int seat = 0; seat < N; seat++) {
        rewards[seat] = reward == SCORE ? scores[seat] : (ranks[seat] == best ? 1.0 / winners : 0.0) - 1.0 / N;
    }
}

// What the seat to act sees; seats are counted from it.
static void write_observation(const Table *t, Observation *out) {
    memset(out, 0, sizeof *out);
    memcpy(out->hand, t->hand[t->turn], KINDS);
    memcpy(out->row, t->row, KINDS);
    memcpy(out->discard, t->discard, KINDS);
    out->draw_pile = CARDS - t->position;
    out->supply = t->supply;
    out->phase[t->phase] = 1;
    if (t->bid > 0) {
        out->bid_number = bid_number(t->bid);
        out->bid_kind[bid_kind(t->bid)] = 1;
    }
    out->bid_rank = min(t->bid, 127);
    for (int i = 0, seat = t->turn; i < N; i++, seat = next(seat)) {
        out->hand_sizes[i] = t->hand_sizes[seat];
        out->mice[i] = t->mice[seat];
        out->displayed[i] = t->displayed[seat];
        out->passed[i] = t->passed[seat];
        out->bandleader[i] = seat == t->bandleader;
        out->high_bidder[i] = seat == t->high_bidder;
        out->turn[i] = seat == t->turn;
        memcpy(out->claims[i], t->claims[seat], KINDS);
        memcpy(out->known[i], t->known[seat], KINDS);
    }
}

// Play actions[k] at table where[k]. Returns the first k whose action is illegal, with nothing changed, or -1.
int64_t step(Table *records, const int64_t *where, const int64_t *actions, int64_t count, int64_t num_actions, int reward,
             Observation *observations, bool *masks, int8_t *turn, float (*rewards)[N], bool *terminated, int16_t (*scores)[N],
             int32_t (*ranks)[N], Table *final_records) {
    for (int64_t k = 0; k < count; k++) {
        const Table *t = &records[where[k]];
        bool legal = actions[k] >= 0 && actions[k] < num_actions && masks[where[k] * num_actions + actions[k]];
        if (!legal && t->phase != OVER) return k;
    }
    for (int64_t k = 0; k < count; k++) {
        int64_t i = where[k];
        Table *t = &records[i];
        terminated[i] = false;
        memset(rewards[i], 0, sizeof rewards[i]);
        memset(scores[i], 0, sizeof scores[i]);
        if (t->phase != OVER) {
            play(t, actions[k]);
            if (t->phase == OVER) {
                terminated[i] = true;
                write_outcome(t, reward, rewards[i], scores[i], ranks[i]);
                final_records[i] = *t;
            }
        }
        if (t->phase == OVER) deal_random(t);
        write_mask(t, &masks[i * num_actions], num_actions);
        write_observation(t, &observations[i]);
        turn[i] = t->turn;
    }
    return -1;
}
