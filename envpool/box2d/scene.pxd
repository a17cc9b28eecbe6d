"""scene.h, and the members of Box2D's classes that the environments use."""

from libcpp cimport bool

cdef extern from "archive.h" nogil:
    cdef cppclass Archive:
        bool is_loading
        bool is_valid
        void require(bool condition)
        void bytes(void* object, size_t size)
        void flag(bool* object)
        void integer[T](T* object, long low, long high)
        void numbers[T](T* object, size_t n)

cdef extern from "<Box2D/Box2D.h>" nogil:
    cdef cppclass b2Vec2:
        float x
        float y
        b2Vec2()
        b2Vec2(float x, float y)

    cdef enum b2BodyType:
        b2_staticBody
        b2_dynamicBody

    cdef cppclass b2Filter:
        unsigned short categoryBits
        unsigned short maskBits

    cdef cppclass b2FixtureDef:
        float friction
        float density
        bool isSensor
        b2Filter filter

    cdef cppclass b2Rot:
        float s
        float c

    cdef cppclass b2Transform:
        b2Vec2 p
        b2Rot q

    cdef cppclass b2Body:
        const b2Transform& GetTransform()
        const b2Vec2& GetPosition()
        float GetAngle()
        const b2Vec2& GetLinearVelocity()
        float GetAngularVelocity()
        void ApplyForceToCenter(const b2Vec2& force, bool wake)
        void ApplyTorque(float torque, bool wake)
        void ApplyLinearImpulse(const b2Vec2& impulse, const b2Vec2& point, bool wake)
        bool IsAwake()
        void SetUserData(void* data)

    cdef cppclass b2RevoluteJoint:
        float GetJointAngle()
        float GetJointSpeed()
        void SetMotorSpeed(float speed)
        void SetMaxMotorTorque(float torque)

    cdef cppclass b2ContactListener:
        pass

    cdef cppclass b2World:
        void SetContactListener(b2ContactListener* listener)
        void SetGravity(const b2Vec2& gravity)
        void DestroyBody(b2Body* body)

cdef extern from "envpool/box2d/scene.h" nogil:
    enum:
        SCENE_FPS

    cdef struct Touch:
        bool is_touching
        bool was_touched

    void transfer_touches(Touch* touches, int n, Archive* archive)

    cdef cppclass TouchListener(b2ContactListener):
        pass

    void scene_restart(b2World* world, double gravity_y)
    b2Body* scene_body(b2World* world, b2BodyType kind, double x, double y, double angle)
    void scene_polygon(b2Body* body, const b2FixtureDef& fixture, const double* corners, int n)
    b2Body* scene_hull(b2World* world, double x, double y, const double* corners, int n, double scale,
                       double density, double friction, unsigned short category, unsigned short ground, Touch* touch)
    void scene_box(b2Body* body, const b2FixtureDef& fixture, double half_width, double half_height)
    void scene_edge(b2Body* body, const b2FixtureDef& fixture, double x1, double y1, double x2, double y2)
    b2RevoluteJoint* scene_motor(b2World* world, b2Body* a, b2Body* b, double ax, double ay, double bx, double by,
                                 double torque, double speed, double lower, double upper)
    float scene_look(const b2World* world, const b2Vec2& origin, double x, double y, unsigned short category)
    void scene_look_at(const b2World* world, const b2Vec2& origin, double x, double y, unsigned short category,
                       double* end)
