// A loop with its thread and its connections: the parts of the event model.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "events/loop.h"
#include "serve/entrance.h"
#include "serve/one_connection.h"
#include "serve/places.h"
#include "serve/servers.h"
#include "serve/stream.h"

namespace serve {

class Side;

// What the sides share.
struct EventCommon {
  EventCommon(const Options& the_options, std::vector<Front> the_fronts);

  // Returns false if --max-connections are being served.
  bool take_place();
  void free_place() EXCLUDES(mutex);
  bool wait_until_all_left(base::Deadline deadline) EXCLUDES(mutex);

  const Options options;
  std::vector<std::unique_ptr<Entrance>> entrances;
  std::vector<std::unique_ptr<Side>> sides;
  events::Helpers helpers;  // each connection may wait for one that hangs
  std::atomic<bool> is_draining = false;
  alignas(64) std::atomic<int> places_taken = 0;
  Totals totals;
  AddressShares shares;
  base::Mutex mutex;
  base::Condition all_left;
};

// A connection of a side. While it rests, this is all that it takes.
class EventConnection final : public events::Task,
                              public events::OwnDescriptor,
                              public boost::intrusive::list_base_hook<>,
                              public boost::intrusive::set_base_hook<> {
 public:
  EventConnection(Arrival&& arrival, std::size_t its_front, Side& side, EventCommon& common);

  void run() override;

  struct IsLookedAtBefore {
    bool operator()(const EventConnection& a, const EventConnection& b) const {
      return a.stream.next_check().at_ns() < b.stream.next_check().at_ns();
    }
  };

  Place place;
  Stream stream;
  const CountedConnection counted;
  const std::size_t front;

 private:
  void came(std::uint32_t events) override;
  Side& side_;
};

// Accepts at one entrance, for one side.
class Accepting final : public events::Task, public events::OwnDescriptor {
 public:
  Accepting(Entrance& entrance, std::size_t front, Side& side)
      : OwnDescriptor(entrance.acceptor.fd()), entrance_(entrance), front_(front), side_(side) {}
  void run() override;

 private:
  Entrance& entrance_;
  const std::size_t front_;
  Side& side_;
};

// A loop with its thread and its connections.
class Side final : public events::Timer {
 public:
  // Throws std::system_error if there are no descriptors, and std::bad_alloc.
  explicit Side(EventCommon& common);

  // The next five: any thread.
  void start();
  int connections() const { return connections_.load(std::memory_order_relaxed); }

  // Serves the connection, soon. If there is no memory for that, refuses it and returns false.
  bool take_from_other(Arrival arrival, std::size_t front);
  void drain();
  void cut(std::atomic<int>& count);  // counts those that it cuts off
  void stop();

  // The rest is for the side's own thread.
  void admit(Arrival arrival, Entrance& entrance, std::size_t front);
  void serve(EventConnection& one);
  void serve_again(EventConnection& one);
  void is_due() override;

  events::Loop loop;
  std::thread thread;

 private:
  void run();
  void admit_in_place_of_other(Arrival arrival, std::size_t front, std::size_t sides_asked);
  template <typename Take>
  bool post_arrival(Arrival arrival, std::size_t front, Take take);
  bool lets_one_give_way(bool must_be_silent);
  Side& next();
  Side& with_fewest();
  void begin(Arrival arrival, std::size_t front);
  void rest(EventConnection& one);
  void end(EventConnection& one);
  void say_busy(EventConnection& one);
  std::unique_ptr<Worker> take_worker(std::size_t front);

  EventCommon& common_;
  std::vector<std::unique_ptr<Accepting>> accepting_;
  std::vector<std::vector<std::unique_ptr<Worker>>> free_workers_;  // of each front
  alignas(64) std::atomic<int> connections_ = 0;  // with those that are on their way here
  boost::intrusive::list<EventConnection> all_;
  boost::intrusive::multiset<EventConnection,
                             boost::intrusive::compare<EventConnection::IsLookedAtBefore>>
      resting_;
};

}  // namespace serve
